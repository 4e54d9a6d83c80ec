import Foundation
import TestSupport
import Testing

@testable import Base
@testable import RideCore
@testable import RuleFiles
@testable import Timeline

/// The shipped rules, seen by a customer whose phone has no network for ten minutes, whenever that is.
@Suite struct ScreenHoleTests {
  private static let arrival = "customer-driver-arrived"
  private static let hole: Duration = .seconds(600)

  private let rules: RuleSet

  init() throws {
    rules = try RuleDirectory.load(ScheduleTests.directory).get().ruleSet
  }

  /// Returns the holes after which the arrival is not on the screen although it is still valid and
  /// nothing newer was to be seen; and how many were looked at.
  private func losses(_ scenario: Scenario, by rules: RuleSet) throws -> (lost: [Int], seen: Int) {
    var configuration = EngineConfiguration(rules: rules, bundleIDs: [:])
    configuration.fillBundleIDs()
    let test = RuleTest(
      name: "hole", location: SourceLocation(line: 1, column: 1), scenario: scenario)
    let feed = RuleTestRun(test, by: configuration).feed
    let customer = try #require(scenario.view.phones.first { $0.app == .customer })
    let sent = feed.pushes(to: customer.id)
    guard let arrival = sent.first(where: { $0.push.rule == Self.arrival }) else { return ([], 0) }
    var (lost, seen) = ([Int](), 0)
    for minute in 0..<60 {
      let start = scenario.start + .seconds(minute * 60)
      let end = start + Self.hole
      guard arrival.at >= start, arrival.at < end, arrival.push.isKept(until: end) else { continue }
      let isNewest = !sent.contains {
        $0.at > arrival.at && $0.at < end && $0.push.type == .alert
      }
      guard isNewest else { continue }
      seen += 1
      var phone = ScenarioPhone(
        name: nil, id: customer.id, platform: customer.platform, start: scenario.start)
      phone.away = [start..<end]
      let screen = feed.screen(of: phone, at: end)
      if screen.notifications.first?.rule != Self.arrival { lost.append(minute) }
    }
    return (lost, seen)
  }

  private func story(_ path: String) throws -> Scenario {
    let plain = try ScenarioFile.read(path, for: rules, at: Timestamp(epochSeconds: 0)).get()
    let invented = InventedRide(for: rules, at: plain.start)
    return invented.filled(invented.completed(plain, withCards: false))
  }

  @Test func `The arrival is on the screen when the phone is back, in every story`() throws {
    let directory = Project.path("docs/stories")
    let names = try FileManager.default.contentsOfDirectory(atPath: directory).sorted()
    var seen = 0
    for name in names where name.hasSuffix(".yaml") {
      let result = try losses(try story(directory + "/" + name), by: rules)
      #expect(result.lost.isEmpty, "\(name): lost after holes from minute \(result.lost)")
      seen += result.seen
    }
    #expect(seen > 0, "no hole has an arrival in it")
  }

  @Test func `A heartbeat that is stored for five minutes takes the arrival's place`() throws {
    let yaml = """
      given:
        at: 2026-11-23T12:00:00Z
        ride: { id: r1, state: driver_en_route, customer_id: u17, driver_id: d4, pickup_at: 20m }
      when: [{ at: 17m, state: driver_arrived }]
      for: 1h
      """
    let plain = try ScenarioFile.parse(
      Array(yaml.utf8), named: "story", for: rules, at: Timestamp(epochSeconds: 0)
    ).get()
    let scenario = InventedRide(for: rules, at: plain.start).completed(plain, withCards: false)
    let good = try losses(scenario, by: rules)
    #expect(good.lost.isEmpty && good.seen > 0)
    let stored = rules.rules.map { rule in
      var rule = rule
      if rule.name == "customer-heartbeat" { rule.expires = .after(.seconds(300)) }
      return rule
    }
    let bad = RuleSet(
      activeStates: rules.activeStates, finalStates: rules.finalStates, events: rules.events,
      rules: stored, defaults: rules.defaults)
    #expect(try !losses(scenario, by: bad).lost.isEmpty)
  }
}

extension ScreenPush {
  /// Returns whether APNs still delivers it then.
  fileprivate func isKept(until instant: Timestamp) -> Bool {
    guard case .apns(.at(let end)) = storage else { return false }
    return instant <= end
  }
}
