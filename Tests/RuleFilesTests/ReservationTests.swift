import Base
import RideCore
import TestSupport
import Testing
import Timeline

@testable import RuleFiles

/// A ride of the next morning with the shipped rules.
@Suite struct ReservationTests {
  private let rules: RuleSet
  private let configuration: EngineConfiguration

  init() throws {
    rules = try RuleDirectory.load(ScheduleTests.directory).get().ruleSet
    let bundles = Dictionary(uniqueKeysWithValues: rules.apps.map { ($0, "com.example.\($0)") })
    configuration = EngineConfiguration(rules: rules, bundleIDs: bundles)
  }

  @Test func `A reservation has a card for the pickup, and not for the night`() throws {
    let path = Project.path("docs/stories/reservation-evening.yaml")
    let plain = try ScenarioFile.read(path, for: rules, at: Timestamp(epochSeconds: 0)).get()
    let invented = InventedRide(for: rules, at: plain.start)
    var scenario = invented.filled(invented.completed(plain, withCards: true))
    for index in scenario.view.phones.indices { scenario.view.phones[index].locale = "en" }
    let story = Story(
      scenario, by: configuration, until: plain.start + (plain.length ?? .seconds(3600)))
    let cards = story.moments.flatMap { moment in
      moment.rows.filter { $0.isSent && $0.texts.first?.shown.cardEvent != nil }
        .map { (at: moment.at, pushes: 1 + $0.repeats) }
    }
    let first = try #require(cards.first).at
    #expect(CivilTime.iso(first) == "2026-11-23T07:15:00Z")
    let last = try #require(cards.last).at
    #expect(CivilTime.iso(last) == "2026-11-23T08:30:00Z")
    #expect(cards.map(\.pushes).reduce(0, +) <= 20)
  }
}
