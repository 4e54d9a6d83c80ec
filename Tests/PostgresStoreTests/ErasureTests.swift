import Base
import Foundation
import Testing
import TestSupport

@testable import PostgresStore
@testable import RideCore

/// Tests of the parts of `ridepulse.forget` that `ForgetTests` does not reach.
@Suite("Erasure of a person", .timeLimit(.minutes(60))) struct ErasureTests {
  private let session: PostgresSession

  init() async throws {
    session = try PostgresSession(conninfo: try await migratedDatabase())
  }

  private func scrubbed(
    _ memo: String, owner: String, app: String?, phones: String = "{}", starts: String = "{}",
    cards: String = "{}", isGone: Bool = false
  ) async throws -> Memo? {
    let text = try await session.value(
      """
      select ridepulse.scrub_memo($1::jsonb, (
        select row($2, $3, array(select ridepulse.owner_apps($2, $3)),
          case when $3 is not null then array[$3 || '_id', $3, 'owner'] end, $4::bigint[],
          $5::bigint[], $6::bigint[], '{}', '{}', '{}', '{}', '{}', '{}')::ridepulse.erasure),
        $7::boolean)::text
      """, [memo, owner, app, phones, cards, starts, isGone ? "t" : "f"])
    return try text.map { try Memo(storedText: $0) }
  }

  private func golden(_ name: String) throws -> String {
    try String(
      contentsOfFile: Project.path("Tests/RideCoreTests/Golden/\(name).json"), encoding: .utf8)
  }

  @Test func `R78: memos lose a person's pushes, and are read as before`() async throws {
    // The files are memos as the engine writes them: owner c, phone 11, card 21, start token 31.
    for name in ["memo-waiting", "memo-card", "memo-start", "memo-slot", "memo-part"] {
      let text = try golden(name)
      let before = try Memo(storedText: text)
      #expect(try await scrubbed(text, owner: "nobody", app: nil) == before, "\(name)")
      let after = try #require(
        try await scrubbed(
          text, owner: "c", app: nil, phones: "{11}", starts: "{31}", cards: "{21}"), "\(name)")
      #expect(after.waiting.isEmpty && after.starts.isEmpty, "\(name)")
      #expect(after.cards[.activity(21)] == nil && after.slots == before.slots, "\(name)")
      #expect(after.cards[.channel(3)] == before.cards[.channel(3)], "\(name)")
    }
  }

  @Test func `a memo loses the cards of the person's Android phones, and of no other phone`()
    async throws
  {
    var memo = try Memo(storedText: try golden("memo-card"))
    memo.cards[.phone(11)] = memo.cards[.activity(21)]
    memo.cards[.phone(12)] = memo.cards[.activity(21)]
    let after = try await scrubbed(memo.storedText, owner: "c", app: nil, phones: "{11}")
    #expect(
      after?.cards.keys.map(\.rawValue).sorted() == ["21", "channel 3", "phone 12"])
  }

  @Test func `R78: pushes to other people stay, without the person in their texts`() async throws {
    var other = try Memo(storedText: try golden("memo-waiting"))
    other.waiting[0].entry.owner = "d"
    other.waiting[0].entry.phone = 12
    other.waiting[0].entry.startToken = nil
    other.waiting[0].entry.event.data = #"{"by": "c"}"#
    let text = other.storedText
    let memo = try #require(try await scrubbed(text, owner: "c", app: nil, phones: "{11}"))
    let retry = try #require(memo.waiting.first)
    #expect(retry.entry.owner == "d")
    #expect(retry.entry.event.data.contains("(erased)"))
    #expect(retry.image?.customer == "(erased)" && retry.image?.driver == "d")
    #expect(retry.image?.attributes == "{}")
  }

  @Test func `R78: of a deleted ride's memo only cards of others stay`() async throws {
    let cards = try golden("memo-card")
    let left = try await scrubbed(cards, owner: "c", app: nil, cards: "{21}", isGone: true)
    #expect(left?.cards.keys.map(\.rawValue) == ["channel 3"])
    #expect(
      try await scrubbed(try golden("memo-waiting"), owner: "c", app: nil, isGone: true) == nil)
  }

  /// A value, the app of the erasure, and the value without `u1`.
  @Test(
    arguments: [
      (#"{"driver_id": "u1", "n": "u1"}"#, nil, #"{"driver_id": "(erased)", "n": "(erased)"}"#),
      (
        #"{"driver_id": "u1", "customer_id": "u1"}"#, "driver",
        #"{"driver_id": "(erased)", "customer_id": "u1"}"#
      ),
      (#"{"driver_id": ["u1", "u2"]}"#, nil, #"{"driver_id": ["(erased)", "u2"]}"#),
      (
        #"{"a": [{"b": "u1"}, "u1", "xu1"]}"#, nil,
        #"{"a": [{"b": "(erased)"}, "(erased)", "xu1"]}"#
      ),
      (
        #"{"q": "{\"r\": \"{\\\"s\\\": \\\"u1\\\"}\"}"}"#, nil,
        #"{"q": "{\"r\": \"{\\\"s\\\": \\\"(erased)\\\"}\"}"}"#
      ),
      (#"{"text": "{u1 is no JSON"}"#, nil, #"{"text": "{u1 is no JSON"}"#),
    ] as [(String, String?, String)])
  func `R78: a person's ID is found at any depth`(
    value: String, app: String?, expected: String
  ) async throws {
    let keys = app.map { "{\($0)_id,\($0),owner}" }
    #expect(
      try await session.value(
        "select ridepulse.scrub($1::jsonb, 'u1', $2::text[]) = $3::jsonb", [value, keys, expected])
        == "t")
  }

  @Test func `R78: pushes of legacy senders go with their phone`() async throws {
    try await session.script(
      """
      insert into ridepulse.devices (app, owner_id, token, registered_at)
      select 'customer', ridepulse.legacy_ride('customer', t), t, '-infinity'
      from unnest(array['aa', 'bb']) t;
      select ridepulse.register_device('customer', 'u1', 'aa');
      insert into ridepulse.ledger (ride_id, apns_id, event, rule, app, push_type, status, attempts,
        occurred_at, device_id, token_suffix)
      select ridepulse.legacy_ride('customer', token), gen_random_uuid(), 'legacy_push', 'legacy',
        'customer', 'alert', 'accepted', 1, now(), id, token from ridepulse.devices;
      insert into ridepulse.events (ride_id, event, data)
      select ridepulse.legacy_ride('customer', token), 'legacy_push', '{}' from ridepulse.devices;
      insert into ridepulse.agenda (ride_id, fence, leased_until)
      select ridepulse.legacy_ride('customer', token), id, 'infinity' from ridepulse.devices;
      select ridepulse.forget('u1')
      """)
    for table in ["devices", "ledger", "events", "agenda"] {
      #expect(try await session.value("select count(*) from ridepulse.\(table)") == "1", "\(table)")
    }
  }

  @Test func `R78: only in one app, if it is named`() async throws {
    try await session.script(
      """
      select ridepulse.register_device('customer', 'u1', 'aa'),
        ridepulse.register_device('driver', 'u1', 'bb');
      insert into ridepulse.rides (id, state, customer_id, driver_id) values
        ('by', 'x', 'c', 'u1'), ('for', 'x', 'u1', 'd');
      select ridepulse.forget('u1', 'driver')
      """)
    #expect(
      try await session.value("select string_agg(app, '') from ridepulse.devices") == "customer")
    #expect(
      try await session.value(
        "select string_agg(id || coalesce(driver_id, '-'), ' ' order by id) from ridepulse.rides")
        == "by- ford")
    #expect(
      try await session.value("select count(*) from ridepulse.events where driver_id = 'u1'") == "0"
    )
  }

  @Test func `R78: whatever is stored can be erased, and nobody is not a person`() async throws {
    try await session.script(
      #"""
      insert into ridepulse.devices (app, owner_id, token)
      values ('gone app', E'a\b"c\n.*', 'no token'), ('customer', 'other', 'ab');
      insert into ridepulse.rides (id, state, customer_id) values
        ('r1', 'x', E'a\b"c\n.*'), ('r2', 'x', 'other');
      select ridepulse.emit('e', 'r2', jsonb_build_object('driver_id', E'a\b"c\n.*'));
      select ridepulse.sign_out(E'a\b"c\n.*');
      select ridepulse.forget(E'a\b"c\n.*')
      """#)
    #expect(
      try await session.value("select string_agg(owner_id, '') from ridepulse.devices") == "other")
    #expect(try await session.value("select string_agg(id, '') from ridepulse.rides") == "r2")
    #expect(
      try await session.value("select data ->> 'driver_id' from ridepulse.events where event = 'e'")
        == "(erased)")
    for argument in ["null", "''", "'x', ''"] {
      let error = await #expect(throws: PostgresError.self) {
        try await session.value("select ridepulse.forget(\(argument))")
      }
      #expect(error?.server?.sqlState == "22023")
    }
  }
}
