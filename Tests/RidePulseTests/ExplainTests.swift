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
      select ridepulse.register_device('customer', 'c1', '\(Stage.customerToken)');
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
}
