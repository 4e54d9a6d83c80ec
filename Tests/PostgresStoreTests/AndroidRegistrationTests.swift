import Testing

@testable import PostgresStore

private let fid = "cAbDefGhIjKlMnOpQrStU_"
private let token = fid + ":APA91bF-Xy_z"

/// Registration and sign-out of Android phones, as SQL does them.
@Suite("Registration of Android phones", .timeLimit(.minutes(60)))
struct AndroidRegistrationTests {
  private let session: PostgresSession

  init() async throws {
    session = try PostgresSession(conninfo: try await migratedDatabase())
  }

  private static let phones =
    "select owner_id, platform, token, disabled_reason from ridepulse.devices order by id"

  private func register(
    _ token: String, owner: String = "c1", _ arguments: String = ""
  ) async throws {
    try await session.script(
      """
      select ridepulse.register_device('customer', '\(owner)', '\(token)',
        platform => 'android'\(arguments))
      """)
  }

  private func unregister(_ token: String) async throws -> String? {
    try await session.value("select ridepulse.unregister_device('customer', '\(token)')")
  }

  @Test(arguments: [fid, token, "x", "!~", String(repeating: "aB:", count: 170)])
  func `a token survives byte for byte, and only the same text signs it out`(token: String)
    async throws
  {
    try await register(token)
    #expect(try await session.rows(Self.phones) == ["c1 android \(token) -"])
    if token != token.lowercased() { #expect(try await unregister(token.lowercased()) == "f") }
    #expect(try await unregister(token) == "t")
    #expect(try await session.rows(Self.phones) == ["c1 android \(token) signed_out"])
  }

  @Test func `tokens of iPhones are lower-cased as before`() async throws {
    try await session.script("select ridepulse.register_device('customer', 'c1', 'ABcd')")
    #expect(try await session.rows(Self.phones) == ["c1 ios abcd -"])
    #expect(try await unregister("aBCD") == "t")
  }

  /// Arguments, the message, and its hint.
  @Test(
    arguments: [
      (
        "repeat('aB', 32), platform => 'android'",
        "looks like one of APNs; send platform ios or leave it out", "Firebase"
      ),
      ("'', platform => 'android'", "token of ridepulse.register_device is no token", "ASCII"),
      ("'a b', platform => 'android'", "is no token", "ASCII"),
      ("'ä', platform => 'android'", "is no token", "ASCII"),
      ("repeat('x', 513), platform => 'android'", "is no token", "512"),
      ("'\(token)'", "is no token", "An FCM token needs platform => 'android'."),
      ("'\(fid)', platform => 'ios'", "is no token", "An FCM token needs platform => 'android'."),
      ("'xy'", "is no token", "hexadecimal"),
      ("'ab', platform => 'Android'", "'Android', which is unknown", "Send ios or android."),
      (
        "'\(fid)', 'sandbox', platform => 'android'",
        "environment of ridepulse.register_device is 'sandbox'", "send null"
      ),
    ])
  func `what does not fit the platform is refused, with a hint, and nothing is stored`(
    arguments: String, message: String, hint: String
  ) async throws {
    let error = await #expect(throws: PostgresError.self) {
      try await session.script("select ridepulse.register_device('customer', 'c1', \(arguments))")
    }
    #expect(error?.server?.sqlState == "22023")
    #expect(error?.server?.message.contains(message) == true, "\(arguments)")
    #expect(error?.server?.hint?.contains(hint) == true, "\(arguments)")
    #expect(try await session.value("select count(*) from ridepulse.devices") == "0")
  }

  @Test(
    arguments: [
      "'ab'", "'ab', 'sandbox'", "'ab', 'sandbox', 'i'", "'ab', 'sandbox', 'i', 'de'",
      "'ab', 'sandbox', 'i', 'de', 'ios', 'Asia/Tokyo', true, '4.2'", "token => 'ab'",
      "token => 'ab', locale => 'de', installation_id => 'i', environment => null",
    ])
  func `every earlier form of the call registers an iPhone`(arguments: String) async throws {
    try await session.script("select ridepulse.register_device('customer', 'c1', \(arguments))")
    #expect(try await session.rows(Self.phones) == ["c1 ios ab -"])
  }

  @Test func `a phone that moves from its token to its installation ID replaces itself`()
    async throws
  {
    try await register(token)
    try await register(fid)
    #expect(
      try await session.rows(Self.phones)
        == ["c1 android \(token) replaced", "c1 android \(fid) -"])
    // An ID of the app's own stays, and links what names it.
    try await register(token, ", installation_id => 'mine'")
    try await register(token)
    #expect(
      try await session.value(
        "select installation_id from ridepulse.devices where disabled_at is null") == "mine")
  }

  @Test func `a phone that changes hands is the next person's alone`() async throws {
    try await register(token)
    try await register(fid, owner: "c2")
    #expect(
      try await session.rows(Self.phones)
        == ["c1 android \(token) replaced", "c2 android \(fid) -"])
    try await register(fid, owner: "c3")
    #expect(try await session.rows(Self.phones).last == "c3 android \(fid) -")
    #expect(try await unregister(fid) == "t")
    #expect(
      try await session.value("select count(*) from ridepulse.current_devices") == "0")
  }

  @Test func `a sign-out of an Android phone leaves the person's iPhone alone`() async throws {
    try await session.script(
      """
      select ridepulse.register_device('customer', 'c1', 'ab');
      select ridepulse.register_live_activity('r1', 'customer', 'c1', 'b1', 'card');
      select ridepulse.register_push_to_start('customer', 'c1', 'd1', 'T')
      """)
    try await register(fid)
    #expect(try await unregister(fid) == "t")
    #expect(try await unregister(fid) == "f")
    let left = """
      select (select count(*) from ridepulse.live_activities where ended_at is null),
        (select count(*) from ridepulse.current_start_tokens),
        (select count(*) from ridepulse.current_devices)
      """
    #expect(try await session.rows(left) == ["1 1 1"])
  }

  @Test func `a new phone makes its owner's live rides due, once`() async throws {
    try await session.script(
      """
      set session_replication_role = replica;
      insert into ridepulse.rides (id, customer_id) values ('live', 'c1'), ('over', 'c1'),
        ('other', 'c2'), ('shared', 'c3');
      insert into ridepulse.participants (ride_id, app, owner_id)
      values ('shared', 'customer', 'c1'), ('other', 'driver', 'c1');
      insert into ridepulse.agenda (ride_id, fence, leased_until)
      select r, 0, '-infinity' from unnest(array['live', 'other', 'shared']) r;
      reset session_replication_role
      """)
    let due = "select ride_id, event from ridepulse.events order by id"
    try await session.script("select ridepulse.register_device('customer', 'c1', 'ab')")
    #expect(try await session.rows(due) == [])
    try await register(fid)
    let rides = ["live card_registered", "shared card_registered"]
    #expect(try await session.rows(due) == rides)
    try await register(fid, ", locale => 'de'")
    #expect(try await session.rows(due) == rides)
    #expect(try await unregister(fid) == "t")
    try await register(fid)
    #expect(try await session.rows(due) == rides + rides)
  }

  @Test func `a topic that is turned off makes the rides of an Android phone due`() async throws {
    try await session.script(
      """
      set session_replication_role = replica;
      insert into ridepulse.rides (id, customer_id) values ('live', 'c1');
      insert into ridepulse.agenda (ride_id, fence, leased_until) values ('live', 0, '-infinity');
      reset session_replication_role;
      select ridepulse.set_preference('customer', 'c1', 'card', false)
      """)
    #expect(try await session.value("select count(*) from ridepulse.events") == "0")
    try await register(fid)
    try await session.script("select ridepulse.set_preference('customer', 'c1', 'card', true)")
    #expect(
      try await session.rows("select event from ridepulse.events order by id")
        == ["card_registered", "preference_changed"])
  }

  @Test func `a participant with an Android phone who leaves a ride makes it due`() async throws {
    try await register(fid)
    try await session.script(
      """
      insert into ridepulse.rides (id) values ('r1');
      insert into ridepulse.participants (ride_id, app, owner_id)
      values ('r1', 'customer', 'c1'), ('r1', 'customer', 'c2'), ('r1', 'driver', 'c1');
      insert into ridepulse.rides (id) values ('over');
      insert into ridepulse.participants (ride_id, app, owner_id) values ('over', 'customer', 'c1');
      delete from ridepulse.agenda;
      insert into ridepulse.agenda (ride_id, fence, leased_until) values ('r1', 0, '-infinity');
      delete from ridepulse.events
      """)
    let events = "select ride_id, event from ridepulse.events"
    try await session.script(
      "delete from ridepulse.participants where app = 'driver' or owner_id = 'c2'")
    #expect(try await session.rows(events) == [])
    try await session.script("delete from ridepulse.participants")
    #expect(try await session.rows(events) == ["r1 card_ended"])
  }

  @Test func `an erased person's registrations are in no table`() async throws {
    try await register(token)
    try await register(fid)
    try await session.script(
      """
      select ridepulse.end_live_activity('customer', '2.r1');
      select ridepulse.idempotent_call('k', 'devices', jsonb_build_object('app', 'customer',
        'owner_id', 'c1', 'token', '\(fid)', 'platform', 'android'));
      insert into ridepulse.idempotency_keys (key, request, status, body)
      values ('of another', '', 200, '{"token_suffix": "2"}');
      select ridepulse.forget('c1')
      """)
    let found = """
      select c.relname from pg_class c
      where c.relnamespace = 'ridepulse'::regnamespace and c.relkind = 'r'
        and strpos(query_to_xml(format('select * from ridepulse.%I', c.relname), true, false, '')::text,
          '\(fid.suffix(6))') > 0
      """
    #expect(try await session.rows(found) == [])
    #expect(try await session.value("select count(*) from ridepulse.live_activities") == "0")
    // The token of a dismissed card is a number: not the end of a token in others' answers.
    #expect(try await session.rows("select key from ridepulse.idempotency_keys") == ["of another"])
  }
}
