import Testing

@testable import Base
@testable import RideCore
@testable import Timeline

/// Why a story sends nothing in between.
@Suite struct QuietTimeTests {
  private let start = Sample.now

  private func at(_ seconds: Int64) -> Timestamp { start + .seconds(seconds) }

  /// A ride that is requested, whose driver makes contact twice, and arrives after ten minutes.
  private func story(_ rules: [Rule], seconds: Int64 = 1200) throws -> Story {
    let configuration = Sample.book(rules)
    var scenario = try InventedRide(for: configuration.rules, at: start)
      .scenario(of: "requested,driver_arrived@10m")
    let contact = Change.contact(Contact(.driver, "d"))
    scenario.steps += [60, 120].map { ScenarioStep(at: at($0), [contact]) }
    scenario.steps.sort { $0.at < $1.at }
    return Story(scenario, by: configuration, until: at(seconds))
  }

  private func beat() -> Rule {
    Rule(
      name: "beat", app: .driver,
      when: .at(Timing(.every(.seconds(300)), while: ["driver_arrived"])), what: .background,
      expires: .neverStore, source: "sample.yaml:2")
  }

  @Test func `It has the ride's state, and all that happens in it`() throws {
    let story = try story([Sample.rule()])
    let quiet = story.quietTime(after: start, before: at(600), for: [.customer])
    #expect(quiet.causes == [QuietTime.Cause(name: "requested", at: start, isState: true)])
    #expect(quiet.changes.count == 2)
    // What happens at its end belongs to what follows.
    let later = story.quietTime(after: at(600), before: at(1200), for: [.customer])
    #expect(later.causes.map(\.name) == ["driver_arrived"] && later.changes == [])
  }

  @Test func `For each app it has the rules that fire on what happens`() throws {
    let story = try story([Sample.rule(), Sample.rule("other", app: .driver, on: ["requested"])])
    let quiet = story.quietTime(after: start, before: at(1200), for: [.customer, .driver])
    #expect(quiet.causes.map(\.name) == ["requested", "driver_arrived"])
    #expect(quiet.silences.map(\.app) == [.customer, .driver])
    #expect(quiet.silences.map(\.rules) == [[[], ["arrived"]], [["other"], []]])
  }

  @Test func `It has what waits at its end, and until when`() throws {
    var rule = Sample.rule()
    rule.delay(by: .seconds(3600))
    let story = try story([rule])
    let quiet = story.quietTime(after: at(600), before: at(1200), for: [.customer, .driver])
    let waiting = StoryTrace.Waiting(rule: "arrived", app: .customer, due: at(4200))
    #expect(quiet.silences.map(\.waiting) == [[waiting], []])
    let before = story.quietTime(after: start, before: at(600), for: [.customer])
    #expect(before.silences.map(\.waiting) == [[]])
  }

  @Test func `A rule by the clock has its next time, in its states alone`() throws {
    let story = try story([beat()], seconds: 3600)
    let sent = try #require(story.moments.first { $0.rows.contains(where: \.isSent) })
    let quiet = story.quietTime(after: at(600), before: sent.at, for: [.driver, .customer])
    let next = StoryTrace.Waiting(rule: "beat", app: .driver, due: sent.at)
    #expect(quiet.silences.map(\.next) == [[next], []])
    let before = story.quietTime(after: start, before: at(600), for: [.driver])
    #expect(before.silences.map(\.next) == [[]])
  }

  @Test func `A rule that did not fire at a change of the ride has the reason`() throws {
    var rule = Sample.rule(on: ["ride_updated"])
    rule.condition = try Condition("ride.attributes.eta > 5")
    let configuration = Sample.book([rule])
    var scenario = try InventedRide(for: configuration.rules, at: start).scenario(of: "requested")
    let update = RideUpdate(id: "story", attributes: ["eta": .integer(4)])
    scenario.steps.append(ScenarioStep(at: at(100), [.ride(update)]))
    let story = Story(scenario, by: configuration, until: at(600))
    let quiet = story.quietTime(after: start, before: at(600), for: [.customer])
    #expect(quiet.causes.map(\.name) == ["requested", "ride_updated"])
    #expect(quiet.silences.map(\.rules) == [[[], ["arrived"]]])
    #expect(quiet.obstacles == ["arrived": .condition])
  }
}
