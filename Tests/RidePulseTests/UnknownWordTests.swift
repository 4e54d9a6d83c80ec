import Foundation
import LocalStack
import RideCore
import Testing
import TestSupport

/// States and events that no rule file declares.
@Suite("Unknown words") struct UnknownWordTests {
  private static let unknownState = #"no rule file declares the state "SEARCHING""#
  private static let unknownEvent = #"no rule file declares the event "driver_arived""#

  @Test func `R67: an unknown state or event is in the ledger, explain, log and metrics`()
    async throws
  {
    try await Stage.run { stage in
      let environment = stage.environment.merging(["RIDEPULSE_ADMIN": "127.0.0.1:0"]) { $1 }
      let server = try Server(environment)
      try await stage.sql(
        """
        insert into ridepulse.rides (id, state, customer_id) values
          ('r1', 'SEARCHING', 'c1'), ('r2', 'SEARCHING', 'c2');
        select ridepulse.emit('driver_arived', 'r1')
        """)
      try await stage.settled()
      let rows = try await stage.rows(
        """
        select ride_id, event, rule, app, status, reason, reason_code from ridepulse.ledger
        order by ride_id, event_id
        """)
      let state = ["", "", "suppressed", Self.unknownState, "unknown_state"]
      #expect(
        rows == [
          ["r1", "SEARCHING"] + state,
          ["r1", "driver_arived", "", "", "suppressed", Self.unknownEvent, "unknown_event"],
          ["r2", "SEARCHING"] + state,
        ])
      let explained = try Command.ridepulse(["explain", "r1"], stage.environment).output
      #expect(explained.contains("  no rule: suppressed: \(Self.unknownState)\n"), "\(explained)")
      #expect(explained.contains("  no rule: suppressed: \(Self.unknownEvent)"), "\(explained)")
      try await server.waitForLog("Admin server")
      let url = "http://127.0.0.1:\(server.field("port") ?? "")/metrics"
      // A node counts after it has settled.
      var page = ""
      try await wait(until: "both words are counted: \(page)") {
        page = try Command.run("/usr/bin/curl", ["--silent", "--fail", url]).output
        return page.contains(#"status="suppressed",reason="unknown_state"} 2"#)
          && page.contains(#"status="suppressed",reason="unknown_event"} 1"#)
      }
      #expect(server.stop() == 0)
      let warnings = server.log.split(separator: "\n").filter {
        $0.contains("no rule file declares")
      }
      #expect(warnings.count == 2, "once for each word: \(warnings)")
    }
  }

  @Test func `R67: what a rule file declares, or RidePulse emits itself, leaves no such row`()
    async throws
  {
    try await Stage.run { stage in
      let server = try Server(stage.environment)
      defer { server.stop() }
      try await stage.addRide()
      try await stage.sql("update ridepulse.rides set attributes = attributes || '{\"a\": 1}'")
      // Raw pushes have rides of their own; on any other ride their events are a mistake.
      let raw: Set<InternalEvent> = [.rawPush, .rawBroadcast]
      for event in InternalEvent.allCases where !raw.contains(event) {
        try await stage.sql(
          """
          insert into ridepulse.events (ride_id, event, data)
          values ('r1', '\(event.rawValue)', '{}')
          """)
      }
      try await stage.settled()
      #expect(try await stage.value("select count(*) from ridepulse.ledger where rule = ''") == "0")
    }
  }
}
