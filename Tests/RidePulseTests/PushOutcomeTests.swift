import Base
import Foundation
import LocalStack
import PostgresStore
import RideCore
import Testing
import TestSupport

/// Tests of the outcomes of raw pushes when APNs, a phone or a process fails.
@Suite("Outcomes of raw pushes", .timeLimit(.minutes(60))) struct PushOutcomeTests {
  private static let unavailable =
    #"{"answer": {"status": 503, "reason": "ServiceUnavailable"}}"#

  @Test func `R106: it is retried after 503 and expires if APNs does not recover`() async throws {
    try await Stage.run { stage in
      try stage.faults(#"[{"match": {}, "action": \#(Self.unavailable), "times": 1}]"#)
      let server = try Server(stage.environment)
      let sent = try stage.push(["--wait"])
      #expect(sent.status == 0, "\(sent.errors)")
      try stage.faults(#"[{"match": {}, "action": \#(Self.unavailable)}]"#)
      let late = try stage.push(["--wait", "--expires", "6s"])
      #expect(late.status == 1, "\(late.output)")
      #expect(late.output.contains("expired: push to customer …5a5a5a: "), "\(late.output)")
      let rows = try await stage.rows(Stage.rawOutcomes)
      #expect(rows.map { $0[2] } == ["accepted", "expired"])
      #expect(rows.first?[4] == "2", "\(rows)")
      let ids = try stage.arrivals().map(\.id)
      #expect(Set(ids.prefix(2)).count == 1, "a retry has the same apns-id")
      #expect(server.stop() == 0)
    }
  }

  @Test func `R106: 410 for an unknown token registers nothing, and disables a known phone`()
    async throws
  {
    try await Stage.run { stage in
      let known = String(repeating: "6b", count: 32)
      try stage.tokens(
        """
        {"tokens": [{"token": "\(Stage.rawToken)", "unregistered_since": 1900000000000},
          {"token": "\(known)", "unregistered_since": 4000000000000}]}
        """)
      let server = try Server(stage.environment)
      try await stage.sql("select ridepulse.register_device('customer', 'c1', '\(known)')")
      for token in [Stage.rawToken, known] {
        let sent = try stage.push(["--wait"], token: token)
        #expect(sent.status == 1 && sent.output.contains(": Unregistered"), "\(sent.output)")
      }
      try await stage.settled()
      #expect(
        try await stage.rows("select token, owner_id, disabled_reason from ridepulse.devices")
          == [[known, "c1", "Unregistered"]])
      let again = try stage.push(["--wait"], token: known)
      #expect(again.status == 1)
      #expect(
        again.output.hasSuffix("suppressed: push to customer …6b6b6b: the phone is disabled\n"),
        "\(again.output)")
      #expect(server.isRunning && server.stop() == 0)
    }
  }

  @Test func `R106: 100 pushes to one token arrive in order, although some are retried`()
    async throws
  {
    try await Stage.run { stage in
      try stage.faults(
        #"[{"match": {"every": 20}, "action": \#(Self.unavailable), "times": 3}]"#)
      let server = try Server(stage.environment)
      for number in 1...100 {
        try await stage.sql(
          """
          select ridepulse.push('customer', '\(Stage.rawToken)',
            json_build_object('aps', json_build_object('alert', '\(number)')))
          """)
      }
      try await stage.settled(within: .seconds(240))
      let accepted = try stage.arrivals().filter(\.isAccepted)
      #expect(accepted.compactMap { $0.aps("alert") } == (1...100).map { "\($0)" })
      #expect(try stage.arrivals().count == 103)
      #expect(server.stop() == 0)
    }
  }

  @Test func `R106: kill -9 of service and command loses no committed push`() async throws {
    try await Stage.run { stage in
      var server = try Server(stage.environment)
      try stage.faults(#"[{"match": {}, "action": {"stall": true}, "times": 1}]"#)
      for number in 1...20 {
        let token = Stage.rawToken.dropLast(2) + (number < 10 ? "0\(number)" : "\(number)")
        try await stage.sql(
          "select ridepulse.push('customer', '\(token)', '{\"aps\":{\"alert\":\"\(number)\"}}')")
      }
      try await wait(until: "a push has left") { try !stage.arrivals().isEmpty }
      server.kill9()
      try await stage.sql(
        "select ridepulse.push('customer', '\(Stage.rawToken)', '{\"aps\":{\"alert\":\"21\"}}')")
      server = try Server(stage.environment)
      try await stage.settled(within: .seconds(240))
      #expect(
        try await stage.rows(Stage.rawOutcomes).map { $0[2] }
          == Array(
            repeating: "accepted", count: 21))
      let ids = Dictionary(grouping: try stage.arrivals()) { $0.aps("alert") ?? "" }
      #expect(ids.count == 21 && ids.values.allSatisfy { Set($0.map(\.id)).count == 1 })
      #expect(server.stop() == 0)
    }
  }

  /// A push type and a payload that APNs accepts for it.
  private static var unrepeatable: [(String, String)] {
    let now = Int(Date().timeIntervalSince1970)
    let start =
      #"{"aps":{"event":"start","timestamp":\#(now),"content-state":{},"attributes-type":"R","#
      + #""attributes":{},"alert":{"title":"Hi"}}}"#
    return [("liveactivity", start), ("voip", #"{"aps":{},"call":1}"#)]
  }

  @Test func `R106: a start or call whose answer is lost is uncertain and left once`() async throws
  {
    try await Stage.run { stage in
      let server = try Server(stage.environment)
      for (type, payload) in Self.unrepeatable + [("alert", Stage.rawPayload)] {
        // The counts of faults begin anew.
        try stage.faults(#"[{"match": {"first": 1}, "action": {"close": true}}]"#)
        let before = try stage.arrivals().count
        let sent = try stage.push(["--type", type, "--wait"], payload: payload)
        let isAlert = type == "alert"
        #expect(sent.status == (isAlert ? 0 : 1), "\(sent.errors)\(sent.output)")
        let verdict = isAlert ? "accepted: push" : "uncertain: push"
        #expect(sent.output.contains(verdict), "\(type): \(sent.output)")
        #expect(try stage.arrivals().count - before == (isAlert ? 2 : 1), "\(type)")
      }
      try await stage.settled()
      #expect(
        try await stage.rows(Stage.rawOutcomes).map { $0[2] }
          == ["uncertain", "uncertain", "accepted"])
      #expect(server.stop() == 0)
    }
  }

  @Test func `R106: kill -9 while a call is sent leaves it uncertain, and sends the next one`()
    async throws
  {
    try await Stage.run { stage in
      try stage.faults(#"[{"match": {}, "action": {"stall": true}, "times": 1}]"#)
      var server = try Server(stage.environment)
      func call(_ number: Int) async throws {
        try await stage.sql(
          "select ridepulse.push('customer', '\(Stage.rawToken)', '{\"aps\":{},\"call\":\(number)}', 'voip')"
        )
      }
      try await call(1)
      try await wait(until: "the call has left") { try !stage.arrivals().isEmpty }
      server.kill9()
      try await call(2)
      server = try Server(stage.environment)
      try await stage.settled(within: .seconds(240))
      let rows = try await stage.rows(Stage.rawOutcomes)
      #expect(rows.map { $0[2] } == ["uncertain", "accepted"], "\(rows)")
      #expect(rows.first?[3] == "the service ended before it recorded an answer", "\(rows)")
      let calls = try stage.arrivals().compactMap { $0.record.value(at: ["payload", "call"]) }
      #expect(calls == [.integer(1), .integer(2)])
      #expect(server.stop() == 0)
    }
  }

  @Test func `R106: pushes to dead tokens without a phone do not pause the app`() async throws {
    try await Stage.run { stage in
      try stage.faults(
        #"[{"match": {"token_prefix": "dead"}, "action": {"answer": {"status": 400, "reason": "BadDeviceToken"}}}]"#
      )
      let server = try Server(stage.environment)
      try await stage.sql(
        """
        select ridepulse.push('customer', 'dead' || md5(n::text), '{"aps":{"alert":"x"}}')
        from generate_series(1, 60) n
        """)
      try await stage.settled()
      let sent = try stage.push(["--wait"])
      #expect(sent.status == 0, "\(sent.output)")
      #expect(
        try await stage.rows(
          "select status, reason, attempts, count(*) from ridepulse.ledger group by 1, 2, 3 order by 4"
        )
          == [["accepted", nil, "1", "1"], ["rejected", "BadDeviceToken", "1", "60"]])
      #expect(server.stop() == 0)
      #expect(!server.log.contains("Lane paused"))
    }
  }

  @Test func `R106, R78: forget erases pushes to a person's phone, card and start token`()
    async throws
  {
    try await Stage.run { stage in
      let tokens = (1...3).map { String(repeating: "7\($0)", count: 32) }
      try await stage.sql(
        """
        select ridepulse.register_device('customer', 'eve', '\(tokens[0])');
        select ridepulse.register_live_activity('r1', 'customer', 'eve', '\(tokens[1])', 'a1');
        select ridepulse.register_push_to_start('customer', 'eve', '\(tokens[2])', 'T')
        """)
      try stage.faults(#"[{"match": {"token_prefix": "71"}, "action": \#(Self.unavailable)}]"#)
      let server = try Server(stage.environment)
      for token in tokens + [Stage.rawToken] {
        try await stage.sql(
          "select ridepulse.push('customer', '\(token)', '{\"aps\":{\"alert\":\"dear Eve\"}}')")
      }
      try await stage.until(
        "select string_agg(status, ' ' order by status) from ridepulse.ledger where rule = 'push'",
        is: "accepted accepted accepted pending")
      #expect(server.stop() == 0)
      try await stage.sql(
        "select ridepulse.push('customer', '\(tokens[1])', '{\"aps\":{\"alert\":\"dear Eve\"}}')")
      let erased = try Command.ridepulse(["forget", "eve", "--yes"], stage.environment)
      #expect(erased.status == 0, "\(erased.errors)")
      let dump = try Command.run(
        "/usr/bin/env", ["pg_dump", "--inserts", "--data-only", stage.conninfo],
        ProcessInfo.processInfo.environment
      ).output
      for word in ["dear Eve"] + tokens.map({ String($0.suffix(6)) }) {
        let lines = dump.split(separator: "\n").filter { $0.contains(word) }
        #expect(lines.isEmpty, "\(word): \(lines)")
      }
      #expect(dump.contains("5a5a5a"), "the push to another person's token stays")
    }
  }
}
