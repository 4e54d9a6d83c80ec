import Foundation
import LocalStack
import PostgresStore
import RideCore
import Testing
import TestSupport

/// A value that the app can't decode, from the ride's row to the wire, with real processes.
@Suite("Cards with typed fields") struct CardTypeTests {
  private static let rules = """
    states: { active: [waiting, moving], final: [done] }
    rules:
      - name: card
        app: customer
        live-activity:
          attributes-type: RideAttributes
          content-state:
            status: "{{ride.state}}"
            note: { value: "{{ride.attributes.note | default: ''}}", type: string }
            seats: { value: "{{ride.attributes.seats}}", type: int }
            eta: { value: "{{ride.attributes.eta}}", type: date-epoch, optional: true }
          stale-after: 2m
          min-interval: 1s
        expires: 5m

    """

  /// Each ride with its attributes, and the reason why its card is not sent; nil if it is.
  private static let rides: [(id: String, attributes: String, reason: String?)] = [
    ("fits", #"{"seats": "3", "note": 7, "eta": "2026-11-21T08:05:00Z"}"#, nil),
    (
      "text", #"{"seats": 2, "note": true}"#,
      "content-state.note is true, the card's type is string"
    ),
    (
      "number", #"{"seats": "many"}"#,
      #"content-state.seats is the string "many", the card's type is int"#
    ),
    (
      "fraction", #"{"seats": 2.5}"#,
      "content-state.seats is the number 2.5, the card's type is int"
    ),
    ("null", #"{"seats": null}"#, "missing ride.attributes.seats"),
    ("missing", "{}", "missing ride.attributes.seats"),
  ]

  @Test func `R95: what the app can't decode is not sent, and explain has the reason`() async throws
  {
    try await Stage.run { stage in
      let server = try Server(try stage.environment(rules: Self.rules))
      for (number, ride) in Self.rides.enumerated() {
        try await stage.sql(
          """
          insert into ridepulse.rides (id, state, customer_id, attributes)
          values ('\(ride.id)', 'waiting', 'c\(number)', '\(ride.attributes)');
          select ridepulse.register_live_activity(
            '\(ride.id)', 'customer', 'c\(number)', '\(Self.token(number))', 'a\(number)')
          """)
      }
      try await stage.sql(
        """
        insert into ridepulse.rides (id, state, customer_id, attributes)
        values ('date', 'waiting', 'c9', '{"seats": 2, "eta": 1795248300000}');
        select ridepulse.register_live_activity(
          'date', 'customer', 'c9', '\(String(repeating: "da", count: 40))', 'a9')
        """)
      try await stage.settled()
      try await stage.sql("update ridepulse.rides set state = 'teleporting' where id = 'fits'")
      try await stage.settled()
      #expect(server.stop() == 0)

      for ride in Self.rides.dropFirst() {
        let rows = try await stage.rows(
          "select status, reason, reason_code from ridepulse.ledger where ride_id = '\(ride.id)'")
        let code = ride.reason?.hasPrefix("missing") == true ? "missing_value" : "card_type"
        #expect(rows == [["suppressed", ride.reason, code]], "\(ride.id)")
        let explained = try Command.ridepulse(["explain", ride.id], stage.environment).output
        #expect(explained.contains("suppressed: \(ride.reason ?? "")\n"), "\(explained)")
      }
      // An optional field is null, and blocks nothing else.
      let broken =
        "sent as null: content-state.eta is the number 1795248300000, the card's type is date-epoch"
      let rows = try await stage.rows(
        "select status, reason, reason_code from ridepulse.ledger where ride_id = 'date'")
      #expect(rows == [["accepted", broken, "card_field_dropped"]])
      let explained = try Command.ridepulse(["explain", "date"], stage.environment).output
      #expect(explained.contains(broken), "\(explained)")
      let unknown =
        #"content-state.status is the string "teleporting", which is not a state of the rule files"#
      #expect(
        try await stage.value(
          "select count(*) from ridepulse.ledger where ride_id = 'fits' and reason = '\(unknown)'")
          == "1")
      let date = String(repeating: "da", count: 40)
      let sent = try stage.arrivals().filter { $0.token == date }
      #expect(sent.map { $0.text("payload", "aps", "content-state", "eta") } == [nil])
      #expect(sent.map { $0.aps("content-state", "status") } == ["waiting"])
      let arrivals = try stage.arrivals().filter { $0.token != date }
      #expect(arrivals.allSatisfy { $0.token == Self.token(0) }, "nothing else on the wire")
      let shown = try #require(arrivals.first)
      #expect(
        shown.aps("content-state", "seats") == "3" && shown.aps("content-state", "note") == "7")
      #expect(shown.aps("content-state", "eta") == "1795248300")
      #expect(arrivals.allSatisfy { $0.aps("content-state", "status") != "teleporting" })
    }
  }

  private static func token(_ number: Int) -> String { String(repeating: "c\(number)", count: 40) }
}
