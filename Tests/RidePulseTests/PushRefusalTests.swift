import Foundation
import PostgresStore
import RideCore
import Testing
import TestSupport

/// Tests of raw pushes that are refused before they are committed.
@Suite("Refused raw pushes", .timeLimit(.minutes(60))) struct PushRefusalTests {
  private static let token = String(repeating: "5a", count: 32)

  /// The words after the command, the payload, and parts of the message.
  private static let mistakes: [([String], String, [String])] = [
    (["push", "--token", "ab", "--payload", "-"], "{}", ["--app APP is missing"]),
    (["push", "--app", "customer", "--payload", "-"], "{}", ["--token TOKEN is missing"]),
    (["push", "--app", "customer", "--token", "ab"], "{}", ["--payload FILE is missing"]),
    (push("xy"), "{}", ["--token is not a token", "hexadecimal"]),
    (
      push("ab"), "{\"aps\": {\n  \"alert\" \"Hi\"}}",
      ["--payload - is not JSON at line 2, column 11: a colon is expected"]
    ),
    (push("ab"), "", ["--payload - is not JSON at line 1, column 1"]),
    (push("ab"), "[1]", ["--payload is not a JSON object", #"{"aps""#]),
    (
      push("ab"), #"{"a":1e999}"#,
      ["not JSON", "column 6: a number that exceeds the range of a double"]
    ),
    (push("ab"), #"{"a":1,"a":2}"#, [#""a" appears twice"#]),
    (push("ab", "--type", "alrt"), "{}", ["--type alrt", "did you mean alert?"]),
    (push("ab", "--priority", "7"), "{}", ["--priority 7 is not one of 10, 5, 1"]),
    (push("ab", "--expires", "soon"), "{}", ["--expires soon is not a duration", "never-store"]),
    (push("ab", "--expires", "31d"), "{}", ["longer than APNs stores a push", "30d at most"]),
    (push("ab", "--dry-run"), "{}", ["unknown option --dry-run"]),
    (["broadcast", "--app", "customer", "--payload", "-"], "{}", ["CHANNEL is missing"]),
    (broadcast("ä"), "{}", ["CHANNEL is not a channel ID in base64", "channels list"]),
    (broadcast("YQ==", "--expires", "9h"), "{}", ["APNs stores a broadcast", "8h at most"]),
    (broadcast("YQ=="), #"{"aps":{"event":"start"}}"#, ["it is update, end in a broadcast"]),
  ]

  private static func push(_ token: String, _ words: String...) -> [String] {
    ["push", "--app", "customer", "--token", token, "--payload", "-"] + words
  }

  private static func broadcast(_ channel: String, _ words: String...) -> [String] {
    ["broadcast", channel, "--app", "customer", "--payload", "-"] + words
  }

  @Test(arguments: mistakes.indices)
  func `R106: a mistake on the command line has its location and status 64`(index: Int) throws {
    let (words, payload, expected) = Self.mistakes[index]
    let result = try Tool.run(
      try Command.ridepulse, words, environment: ["DATABASE_URL": "host=/nowhere"],
      input: Data(payload.utf8))
    #expect(result.status == 64, "\(result.errors)")
    for text in expected { #expect(result.errors.contains(text), "\(result.errors)") }
    #expect(result.output.isEmpty)
  }

  @Test func `R106: what only the database or the service knows fails, too`() async throws {
    let nowhere = ["DATABASE_URL": "host=/nowhere"]
    let words = ["push", "--app", "custmer", "--token", Self.token, "--payload"]
    let missing = try Command.ridepulse(words + ["/nope.json"], nowhere)
    #expect(missing.status == 1 && missing.errors.contains("/nope.json can't be read"))
    try await Stage.run { stage in
      let file = stage.directory + "/payload.json"
      try Data(#"{"aps":{"alert":"Hi"}}"#.utf8).write(to: URL(fileURLWithPath: file))
      let away = try Command.ridepulse(words + [file], nowhere)
      #expect(away.status == 1 && away.errors.contains("the database can't be reached"))
      // A service makes its apps known.
      #expect(try Command.ridepulse(["serve", "--once"], stage.environment).status == 0)
      let app = try Command.ridepulse(words + [file], stage.environment)
      #expect(app.status == 64, "\(app.errors)")
      #expect(app.errors.contains("custmer") && app.errors.contains("Known apps: customer, driver"))
      #expect(try await stage.value("select count(*) from ridepulse.events") == "0")
    }
  }

  /// A call, and parts of the message and the hint.
  private static let calls: [(String, String, String)] = [
    ("push(null, 'ab', '{}')", "app", "empty"),
    ("push('x', 'ab', '{}')", "app", "Known apps"),
    ("push('customer', 'abc', '{}')", "token", "hexadecimal"),
    ("push('customer', 'ab', null)", "payload, got NULL", "object"),
    ("push('customer', 'ab', '[]')", "payload, got array", "object"),
    (
      "push('customer', 'ab', json_build_object('a', repeat('x', 4090)))",
      "4100 bytes, at most 4096", "Spaces count"
    ),
    (
      "push('customer', 'ab', json_build_object('a', repeat('x', 5111)), 'voip')",
      "5121 bytes, at most 5120", "APNs"
    ),
    ("push('customer', 'ab', '{}', 'alrt')", "push_type", "Known are alert"),
    ("push('customer', 'ab', '{}', null)", "push_type", "Known are alert"),
    ("push('customer', 'ab', '{}', priority => 7)", "priority", "10 (at once)"),
    ("push('customer', 'ab', '{}', 'background', 10)", "priority", "5 or null"),
    ("push('customer', 'ab', '{}', expires => '-1 s')", "expires", "30 days"),
    ("push('customer', 'ab', '{}', expires => '31 days')", "expires", "30 days"),
    ("push('customer', 'ab', '{}', expires => '300000 years')", "expires", "30 days"),
    ("push('customer', 'ab', '{}', expires => '-300000 years')", "expires", "30 days"),
    ("broadcast('customer', 'YQ==', '{}', '1 month')", "expires", "08:00:00"),
    ("push('customer', 'ab', '{}', environment => 'prod')", "environment", "sandbox"),
    ("push('customer', 'ab', '{}', collapse_id => '')", "collapse_id", "1 to 64"),
    ("push('customer', 'ab', '{}', collapse_id => repeat('é', 33))", "collapse_id", "1 to 64"),
    ("broadcast('customer', 'ä', '{}')", "channel_id", "base64"),
    ("broadcast('customer', null, '{}')", "channel_id", "base64"),
    ("broadcast('customer', 'YQ==', '1')", "payload, got number", "object"),
    ("broadcast('customer', 'YQ==', '{}', '9 h')", "expires", "08:00:00"),
    ("broadcast('customer', 'YQ==', '{}', priority => 0)", "priority", "10 (at once)"),
  ]

  @Test func `R106: SQL refuses with 22023, the argument and a hint`() async throws {
    try await Stage.run { stage in
      try await stage.sql("insert into ridepulse.apps (app) values ('customer')")
      for (call, message, hint) in Self.calls {
        do {
          _ = try await stage.rows("select ridepulse.\(call)")
          Issue.record("accepted: \(call)")
        } catch let error as PostgresError {
          #expect(error.server?.sqlState == "22023", "\(call): \(error)")
          #expect(error.server?.message.contains(message) == true, "\(call): \(error)")
          #expect(error.server?.hint?.contains(hint) == true, "\(call): \(error)")
        }
      }
      // Each push type of the engine is one of SQL's.
      for type in PushType.allCases {
        try await stage.sql(
          "select ridepulse.push('customer', 'ab', '{}', '\(type.rawValue)')")
      }
      #expect(
        try await stage.value("select count(*) from ridepulse.events where event = 'raw_push'")
          == "\(PushType.allCases.count)")
    }
  }

  @Test func `R106: the longest validity is the same in each time zone`() async throws {
    try await Stage.run { stage in
      // Zones whose clocks go forward, or back, ten days from now.
      for (forward, back) in [(10, 100), (265, 10)] {
        let zone = try await stage.value(
          """
          select format('AAA0BBB,J%s/0,J%s/0', extract(doy from now() + interval '1 day' * \(forward)),
            extract(doy from now() + interval '1 day' * \(back)))
          """)
        try await stage.sql("set timezone = '\(zone ?? "")'")
        #expect(
          try await stage.value("select now() + interval '30 days' = now() + interval '720 hours'")
            == "f", "the clocks change")
        for longest in ["720 hours", "30 days"] {
          let rest = try await stage.value(
            """
            select abs(ridepulse.raw_expiration('push', '\(longest)', '30 days')
              - extract(epoch from now()) - 720 * 3600) < 60
            """)
          #expect(rest == "t", "\(longest)")
        }
      }
    }
  }

  /// The fields next to app and payload, the field that the answer names, and its code.
  private static let bodies: [(String, String, String)] = [
    (#""payload": {}"#, "token", "missing_field"),
    (#""payload": {}, "token": "ab", "channel_id": "YQ==""#, "channel_id", "invalid_value"),
    (#""payload": {}, "channel_id": "YQ==", "push_type": "alert""#, "push_type", "invalid_value"),
    (#""payload": {}, "channel_id": "Y Q""#, "channel_id", "invalid_value"),
    (#""payload": {}, "channel_id": "YQ==""#, "payload", "invalid_value"),
    (#""payload": "{}", "token": "ab""#, "payload", "wrong_type"),
    (#""payload": {"id": 18446744073709551617}, "token": "ab""#, "payload", "invalid_value"),
    (
      #""payload": {"x": [{"id": -9223372036854775809}]}, "token": "ab""#, "payload",
      "invalid_value"
    ),
    (#""token": "ab""#, "payload", "missing_field"),
    (#""payload": {}, "token": "abc""#, "token", "invalid_value"),
    (#""payload": {}, "token": "ab", "push_type": "alrt""#, "push_type", "invalid_value"),
    (#""payload": {}, "token": "ab", "priority": 7"#, "priority", "invalid_value"),
    (#""payload": {}, "token": "ab", "priority": "10""#, "priority", "wrong_type"),
    (#""payload": {}, "token": "ab", "expires": "soon""#, "expires", "invalid_value"),
    (#""payload": {}, "token": "ab", "expires": "31d""#, "expires", "invalid_value"),
    (#""payload": {}, "token": "ab", "collapse_id": " x""#, "collapse_id", "invalid_value"),
    (
      #""payload": {"a": "\#(String(repeating: "x", count: 4096))"}, "token": "ab""#, "payload",
      "invalid_value"
    ),
  ]

  @Test func `R106: HTTP refuses with 422, the field and a code`() async throws {
    try await Stage.run { stage in
      let (server, api) = try await APIClient.serve(stage.environment)
      defer { server.stop() }
      for (fields, field, code) in Self.bodies {
        let answer = try api.post("/v1/push", #"{"app": "customer", \#(fields)}"#)
        #expect(answer.status == 422 && answer.code == code, "\(fields): \(answer)")
        #expect(answer.field == field, "\(fields): \(answer)")
        #expect(!answer.text.contains("Postgres"), "\(answer)")
      }
      #expect(try await stage.value("select count(*) from ridepulse.events") == "0")
    }
  }

  @Test func `R106: the app's role may push, and a reader may not`() async throws {
    try await Stage.run { stage in
      #expect(try Command.ridepulse(["migrate", "--roles"], stage.environment).status == 0)
      try await stage.sql(
        """
        set local role ridepulse_app;
        select ridepulse.push('customer', 'ab', '{}'),
          ridepulse.broadcast('customer', 'YQ==', '{}')
        """)
      #expect(try await stage.value("select count(*) from ridepulse.events") == "2")
      await #expect(throws: PostgresError.self) {
        try await stage.sql(
          "set local role ridepulse_reader; select ridepulse.push('customer', 'ab', '{}')")
      }
    }
  }
}
