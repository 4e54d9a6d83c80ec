import Base
import PostgresStore
import RideCore
import Testing
import TestSupport

@testable import AdminServer

/// Tests that SQL and HTTP refuse the same arguments.
@Suite("Checks of SQL and HTTP") struct SharedChecksTests {
  private static let calls: [(call: APICall, function: String, good: [String: String])] = [
    (.events, "emit", ["event": "e", "ride_id": "r"]),
    (
      .devices, "register_device",
      [
        "app": "customer", "owner_id": "c", "token": "ab", "environment": "sandbox",
        "installation_id": "i", "locale": "de", "platform": "ios", "time_zone": "Europe/Vienna",
        "app_version": "4.2",
      ]
    ),
    (
      .liveActivities, "register_live_activity",
      [
        "ride_id": "r", "app": "customer", "owner_id": "c", "token": "ab", "activity_id": "a",
        "environment": "production", "installation_id": "i",
      ]
    ),
    (
      .pushToStart, "register_push_to_start",
      [
        "app": "customer", "owner_id": "c", "token": "ab", "attributes_type": "T",
        "environment": "production", "installation_id": "i",
      ]
    ),
    (.contact, "contact", ["app": "customer", "owner_id": "c", "installation_id": "i"]),
    (
      .preferences, "set_preference",
      ["app": "customer", "owner_id": "c", "topic": "news", "allowed": "true"]
    ),
    (.deleteDevice, "unregister_device", ["app": "customer", "token": "ab"]),
    (.deletePushToStart, "unregister_push_to_start", ["app": "customer", "token": "ab"]),
    (
      .deleteLiveActivity, "end_live_activity",
      ["app": "customer", "activity_id": "a", "reason": "signed_out"]
    ),
  ]

  private static let words: [(value: String, isGood: Bool)] = [
    ("x", true), (String(repeating: "é", count: 256), true), ("a\u{301} \u{200b}\u{a0}", true),
    ("", false), (String(repeating: "é", count: 256) + "x", false), ("a\u{1}b", false),
    ("a\n", false), ("a\u{7f}", false), ("\u{85}a", false), ("a\u{9f}", false),
  ]

  /// Arguments of which SQL takes an empty text as null, as it always has: apps send it. HTTP, which
  /// lets a field be left out, refuses it.
  private static let emptyInSQL: Set = ["installation_id", "locale", "time_zone", "app_version"]

  /// Values of an argument, each with the verdict that both are to give.
  private static func values(_ kind: APIField.Kind) -> [(value: String, isGood: Bool)] {
    switch kind {
    case .word: words
    case .app:
      [("driver", true), ("", false), ("custmer", false), ("Customer", false), ("a\n", false)]
    case .token:
      [
        ("AB", true), (String(repeating: "0f", count: 256), true), ("", false), ("abc", false),
        ("a", false), ("xy", false), (" ab", false), ("ab\n", false), ("éé", false),
        (String(repeating: "0f", count: 257), false), ("ab\u{301}", false),
      ]
    case .topic:
      [
        ("a", true), ("ride-news_2", true), (String(repeating: "t", count: 64), true), ("", false),
        (String(repeating: "t", count: 65), false), ("News", false), ("a b", false), ("a\n", false),
        ("é", false), ("a.b", false),
      ]
    case .environment: [("sandbox", true), ("", false), ("prod", false), ("Production", false)]
    // A hexadecimal token of two digits is one of either platform.
    case .platform: [("ios", true), ("", false), ("iOS", false), ("windows", false)]
    case .phoneToken:
      [
        ("AB", true), (String(repeating: "0f", count: 256), true), ("", false), (" ab", false),
        ("ab\n", false), ("éé", false), (String(repeating: "0f", count: 257), false),
        ("ab\u{301}", false),
      ]
    case .cardEnd: [("dismissed", true), ("signed_out", true), ("", false), ("ended", false)]
    case .flag, .object, .time, .timeZone, .pushID, .participants: []
    // PushTests covers the fields of a raw push, whose payload is no text.
    case .expiry, .payload, .pushType, .priority, .channel, .collapseID: []
    }
  }

  private func sqlError(
    _ session: PostgresSession, _ function: String, _ arguments: [String: String]
  ) async -> PostgresError? {
    let names = arguments.keys.sorted()
    let list = names.enumerated().map { "\($1) => $\($0 + 1)" }.joined(separator: ", ")
    let call = Call(
      Statement(name: "", sql: "select ridepulse.\(function)(\(list))"),
      names.map { arguments[$0] })
    do throws(PostgresError) {
      _ = try await session.run([call])
      return nil
    } catch {
      return error
    }
  }

  private func httpError(_ call: APICall, _ arguments: [String: String]) -> APIError? {
    let inPath = Set(call.parameters.map(\.name))
    let inQuery = Set(call.query.map(\.name))
    let body = arguments.filter { !inPath.contains($0.key) && !inQuery.contains($0.key) }
      .mapValues { $0 == "true" ? JSONValue.bool(true) : .string($0) }
    var request = HTTPRequest(
      method: call.method, path: call.path, headers: ["content-type": "application/json"],
      body: body.isEmpty ? [] : Array(JSONValue.object(body).json))
    request.parameters = arguments.filter { inPath.contains($0.key) }
    request.query = arguments.filter { inQuery.contains($0.key) }
    do throws(APIError) {
      _ = try call.arguments(of: request, apps: [.customer, .driver])
      return nil
    } catch {
      return error
    }
  }

  @Test func `R81: SQL refuses what HTTP refuses, with the argument's name and a hint`()
    async throws
  {
    try await Stage.run { stage in
      // A service makes its apps known.
      let once = try Command.ridepulse(["serve", "--once"], stage.environment)
      #expect(once.status == 0, "\(once.errors)")
      #expect(
        try await stage.value("select string_agg(app, ' ' order by app) from ridepulse.apps")
          == "customer driver")
      var tried = 0
      for (call, function, good) in Self.calls {
        for field in call.parameters + call.query + call.fields where good[field.name] != nil {
          for (value, isGood) in Self.values(field.kind) {
            tried += 1
            let arguments = good.merging([field.name: value]) { $1 }
            let label = "\(function) \(field.name) \(value.debugDescription)"
            // A live card keeps its owner.
            try await stage.sql("delete from ridepulse.live_activities")
            let refusal = await sqlError(stage.session, function, arguments)
            #expect((httpError(call, arguments) == nil) == isGood, "HTTP: \(label)")
            let isGoodInSQL = isGood || value.isEmpty && Self.emptyInSQL.contains(field.name)
            #expect((refusal == nil) == isGoodInSQL, "SQL: \(label)")
            if let refusal {
              #expect(refusal.server?.sqlState == "22023", "\(label): \(refusal)")
              #expect(refusal.server?.message.contains(field.name) == true, "\(label): \(refusal)")
              #expect(refusal.server?.hint?.isEmpty == false, "\(label): \(refusal)")
              #expect(refusal.server?.constraint == nil, "\(label): \(refusal)")
            }
          }
        }
      }
      #expect(tried > 150)
    }
  }

  @Test func `R81: any app is accepted until a service has started`() async throws {
    try await Stage.run { stage in
      try await stage.sql("select ridepulse.register_device('courier', 'k1', 'ab')")
    }
  }
}
