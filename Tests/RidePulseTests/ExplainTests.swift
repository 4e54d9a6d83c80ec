import Base
import Foundation
import LocalStack
import RideCore
import Testing
import TestSupport

@Suite("explain") struct ExplainTests {
  private static let golden = Project.path("Tests/RidePulseTests/Golden/explain.txt")

  /// Replaces what differs from run to run with placeholders.
  private func tamed(_ text: String) -> String {
    text.replacing(/\d{4}-\d\d-\d\d \d\d:\d\d:\d\d \+\d\d:\d\d/, with: "TIME")
      .replacing(/expires \d\d:\d\d:\d\d \+\d\d:\d\d/, with: "expires TIME")
      .replacing(/[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}/, with: "ID")
      .replacing(/after \d+ ms/, with: "after N ms")
      .replacing(/rules [0-9a-f]{64}/, with: "rules SHA256")
  }

  private func ridden(_ stage: Stage) async throws {
    let server = try Server(try stage.environment(rules: CardTests.rules))
    try await stage.sql(
      """
      select ridepulse.register_device('customer', 'c1', '\(Stage.customerToken)', locale => 'de-AT',
        time_zone => 'Europe/Vienna', alerts => true, app_version => '5.2');
      insert into ridepulse.rides (id, state, customer_id) values ('r1', 'requested', 'c1');
      """)
    try await stage.sql("update ridepulse.rides set state = 'driver_assigned' where id = 'r1'")
    try await stage.settled()
    try await stage.sql(
      """
      select ridepulse.register_live_activity(
        'r1', 'customer', 'c1', '\(CardTests.token)', 'activity-1')
      """)
    try await stage.settled()
    try stage.faults(
      #"[{"match": {"first": 1}, "action": {"answer": {"status": 500, "reason": "InternalServerError"}}}]"#
    )
    try await stage.sql("update ridepulse.rides set state = 'driver_arrived' where id = 'r1'")
    try await stage.settled()
    #expect(server.stop() == 0)
    try await stage.sql("update ridepulse.rides set state = 'ride_started' where id = 'r1'")
  }

  @Test func `Events, decisions with their reasons, cards, verdicts, and pending pushes`()
    async throws
  {
    try await Stage.run { stage in
      try await ridden(stage)
      let result = try Command.ridepulse(["explain", "r1"], stage.environment)
      #expect(result.status == 0, "\(result.errors)")
      #expect(try Golden.difference(of: tamed(result.output), from: Self.golden) == nil)

      let json = try Command.ridepulse(["explain", "r1", "--format", "json"], stage.environment)
      let report = try #require(JSONValue(json: json.output.utf8))
      guard case .array(let timeline) = report.value(at: ["timeline"]) else {
        throw TestFailure(json.output)
      }
      #expect(
        timeline.map { $0.value(at: ["event"]) } == [
          .string("driver_assigned"), .string("card_registered"), .string("driver_arrived"),
          .string("ride_started"),
        ])
      #expect(timeline.last?.value(at: ["handled"]) == .bool(false))
      guard case .array(let decisions) = timeline[2].value(at: ["decisions"]) else {
        throw TestFailure(json.output)
      }
      let card = try #require(
        decisions.first { $0.value(at: ["card_event"]) == .string("update") })
      #expect(card.value(at: ["attempts"]) == .integer(2))
      #expect(card.value(at: ["priority"]) == .integer(10))
      #expect(card.value(at: ["token_suffix"]) == .string("cacaca"))
      guard case .integer(let latency) = card.value(at: ["latency_ms"]) else {
        throw TestFailure(json.output)
      }
      #expect(latency > 0)
      guard case .array(let phones) = report.value(at: ["phones"]) else {
        throw TestFailure(json.output)
      }
      #expect(
        phones.map { phone in ["alerts", "app_version", "time_zone"].map { phone.value(at: [$0]) } }
          == [
            [.bool(true), .string("5.2"), .string("Europe/Vienna")]
          ])
      #expect(!result.output.contains(CardTests.token) && !json.output.contains(CardTests.token))
    }
  }

  @Test func `An unknown ride, and one that is gone`() async throws {
    try await Stage.run { stage in
      let unknown = try Command.ridepulse(["explain", "r9"], stage.environment)
      #expect(unknown.status == 1 && unknown.output.isEmpty)
      #expect(unknown.errors.contains("nothing is recorded about a ride r9"))
      try await stage.sql("select ridepulse.emit('ping', 'r9')")
      let gone = try Command.ridepulse(["explain", "r9"], stage.environment)
      #expect(gone.output.hasPrefix("the ride is gone from ridepulse.rides\n"))
      #expect(gone.output.contains("ping (event 1): not handled yet"))
    }
  }

  @Test func `A read-only role is enough`() async throws {
    try await Stage.run { stage in
      try await stage.addRide()
      try await stage.asReader { environment in
        let result = try Command.ridepulse(["explain", "r1"], environment)
        #expect(result.status == 0, "\(result.errors)")
        #expect(result.output.contains("requested (event 1): not handled yet"))
      }
    }
  }

  /// Returns what a page about a ride has as JSON: its phones over time.
  private func screens(_ page: Tool) throws -> JSONValue {
    #expect(page.status == 0, "\(page.errors)")
    let start = "<script id=\"data\" type=\"application/json\">"
    let text = page.output.components(separatedBy: start).last?
      .components(separatedBy: "</script>").first
    return try #require(JSONValue(json: Array((text ?? "").utf8)), "\(page.output.suffix(2000))")
  }

  /// Returns the screens of the only phone.
  private func steps(_ screens: JSONValue) throws -> [JSONValue] {
    guard case .array(let phones)? = screens["phones"], phones.count == 1,
      case .array(let steps)? = phones.first?["steps"]
    else { throw TestFailure(screens.text) }
    return steps
  }

  @Test func `A page shows what a recorded ride's phones showed, unless other rules decided it`()
    async throws
  {
    try await Stage.run { stage in
      let environment = try stage.environment(rules: CardTests.rules)
      let server = try Server(environment.merging(["RIDEPULSE_RECORD": "100%"]) { $1 })
      try await stage.sql(
        """
        select ridepulse.register_device('customer', 'c1', '\(Stage.customerToken)');
        insert into ridepulse.rides (id, state, customer_id) values ('<r1>', 'requested', 'c1');
        """)
      try await stage.settled()
      try await stage.sql("update ridepulse.rides set state = 'driver_arrived' where id = '<r1>'")
      try await stage.settled()
      #expect(server.stop() == 0)

      let page = try Command.ridepulse(["explain", "<r1>", "--format", "html"], environment)
      let shown = try steps(screens(page))
      let last = try #require(shown.last)
      #expect(last.text.contains("Your driver is here"), "\(last.text)")
      #expect(!last.text.contains("\"known\":false"))
      #expect(!page.output.contains("<r1>") && page.output.contains("&lt;r1&gt;"))
      #expect(!page.output.contains(Stage.customerToken))

      let others = try stage.environment(
        rules: CardTests.rules.replacing("Your driver is here", with: "Other words"))
      let other = try Command.ridepulse(["explain", "<r1>", "--format", "html"], others)
      let unknown = try screens(other)
      #expect(unknown.text.contains("other rules than those in use decided"))
      #expect(!unknown.text.contains("Other words") && unknown.text.contains("\"known\":false"))
    }
  }

  @Test func `A page about a ride that was not recorded names rules, and states what is unknown`()
    async throws
  {
    try await Stage.run { stage in
      try await ridden(stage)
      let environment = try stage.environment(rules: CardTests.rules)
      let page = try Command.ridepulse(["explain", "r1", "--format", "html"], environment)
      let screens = try screens(page)
      #expect(screens.text.contains("the ride was not recorded, see RIDEPULSE_RECORD"))
      let last = try #require(try steps(screens).last)
      #expect(last.value(at: ["counts", "rang"]) == .integer(0))
      #expect(last.text.contains("arrived") && last.text.contains("\"known\":false"))
      // A role that may only read is enough, and the rules need not be there.
      try await stage.asReader { environment in
        let page = try Command.ridepulse(
          ["explain", "r1", "--format", "html"],
          environment.merging(["RIDEPULSE_SCHEDULES": "/nowhere"]) { $1 })
        #expect(page.status == 0, "\(page.errors)")
      }
    }
  }

  @Test func `A page is about a ride`() throws {
    let wrong = try Command.ridepulse(["explain", "--owner", "c1", "--format", "html"], [:])
    #expect(wrong.status == 64 && wrong.errors.contains("--format html is about a ride"))
  }
}

/// Tests of `ridepulse explain RIDE --at TIME`.
@Suite("explain --at", .timeLimit(.minutes(60))) struct ExplainPastTests {
  @Test func `a ride is shown as the ledger records it at the time`() async throws {
    try await Stage.run { stage in
      try await stage.sql(
        """
        insert into ridepulse.rides (id, state, customer_id) values ('r1', 'done', 'c1');
        insert into ridepulse.ledger (ride_id, apns_id, event, rule, app, push_type, status,
          attempts, reason, occurred_at, created_at, finished_at)
        values ('r1', gen_random_uuid(), 'cron', 'morning', 'customer', 'alert', 'expired', 4,
          'too late', to_timestamp(1700000000), to_timestamp(1700000001), to_timestamp(1700000060))
        """)
      let words = ["explain", "r1", "--at", "2023-11-14T22:13:30Z"]
      let table = try Command.ridepulse(words, stage.environment)
      #expect(
        table.output.hasPrefix("as the ledger records it at 2023-11-14 22:13:30 +00:00: "),
        "\(table)")
      #expect(table.output.contains("  morning (alert) to customer: pending\n"), "\(table)")
      #expect(!table.output.contains("too late") && !table.output.contains("agenda"))
      let json = try Command.ridepulse(words + ["--format", "json"], stage.environment)
      let report = try #require(JSONValue(json: json.output.utf8))
      #expect(report["at"] == .string("2023-11-14T22:13:30Z") && report["agenda"] == .null)
      let decision = report["timeline"]?.elements.first?["decisions"]?.elements.first
      #expect(decision?["status"] == .string("pending") && decision?["reason"] == .null)
    }
  }

  @Test(
    arguments: [
      (["--owner", "c1", "--at", "2023-11-14T22:13:30Z"], "--at is about a ride"),
      (["r1", "--at", "2023-11-14T22:13:30Z", "--format", "html"], "--at is about a ride"),
      (["r1", "--at", "2923-11-14T22:13:30Z"], "--at is not in the past"),
      (["r1", "--at", "noon"], "--at noon is not a time"),
    ] as [([String], String)])
  func `a mistake is named`(words: [String], text: String) throws {
    let result = try Command.ridepulse(["explain"] + words, ["DATABASE_URL": "host=/nowhere"])
    #expect(result.status == 64 && result.errors.contains(text), "\(result.errors)")
  }
}
