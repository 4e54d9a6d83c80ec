import Testing

@testable import PostgresStore

/// Tests of sign-out, the end of cards and the withdrawal of start tokens, as SQL does them.
@Suite("People who leave", .timeLimit(.minutes(60))) struct PeopleTests {
  private let session: PostgresSession

  init() async throws {
    session = try PostgresSession(conninfo: try await migratedDatabase())
  }

  private static let phones =
    "select owner_id, token, disabled_reason from ridepulse.devices order by token"
  private static let cards =
    "select activity_id, ended_reason from ridepulse.live_activities order by activity_id"
  private static let starts =
    "select token, disabled_reason from ridepulse.push_to_start_tokens order by token"
  private static let ended =
    "select ride_id from ridepulse.events where event = 'card_ended' order by 1"

  /// Adds the phones, cards and start tokens of two installations of c1, and of one person more.
  private func addPeople() async throws {
    try await session.script(
      """
      select ridepulse.register_device('customer', 'c1', 'a1', installation_id => 'i1'),
        ridepulse.register_device('customer', 'c1', 'a2', installation_id => 'i2'),
        ridepulse.register_device('driver', 'c1', 'a3', installation_id => 'i1'),
        ridepulse.register_device('customer', 'c2', 'a4', installation_id => 'i4');
      select ridepulse.register_live_activity('r1', 'customer', 'c1', 'b1', 'at i1',
          installation_id => 'i1'),
        ridepulse.register_live_activity('r2', 'customer', 'c1', 'b2', 'at i2',
          installation_id => 'i2'),
        ridepulse.register_live_activity('r3', 'customer', 'c1', 'b3', 'anywhere'),
        ridepulse.register_live_activity('r1', 'customer', 'c2', 'b4', 'of c2');
      select ridepulse.register_push_to_start('customer', 'c1', 'd1', 'T', installation_id => 'i1'),
        ridepulse.register_push_to_start('customer', 'c1', 'd2', 'T', installation_id => 'i2'),
        ridepulse.register_push_to_start('customer', 'c1', 'd3', 'T'),
        ridepulse.register_push_to_start('customer', 'c2', 'd4', 'T')
      """)
  }

  @Test func `R76: a sign-out withdraws what is on the phone, or may be`() async throws {
    try await addPeople()
    let signOut = "select ridepulse.unregister_device('customer', 'A1')"
    #expect(try await session.value(signOut) == "t")
    #expect(
      try await session.rows(Self.phones) == ["c1 a1 signed_out", "c1 a2 -", "c1 a3 -", "c2 a4 -"])
    #expect(
      try await session.rows(Self.cards)
        == ["anywhere signed_out", "at i1 signed_out", "at i2 -", "of c2 -"])
    #expect(
      try await session.rows(Self.starts) == ["d1 signed_out", "d2 -", "d3 signed_out", "d4 -"])
    #expect(try await session.rows(Self.ended) == ["r1", "r3"])
    // A repetition must not sign out what was registered since.
    try await session.script(
      "select ridepulse.register_live_activity('r5', 'customer', 'c1', 'b5', 'later')")
    #expect(try await session.value(signOut) == "f")
    #expect(try await session.rows(Self.cards).contains("later -"))
    #expect(try await session.value("select ridepulse.unregister_device('driver', 'ff')") == "f")
  }

  @Test func `R76: a phone without an installation signs out what no other phone shows`()
    async throws
  {
    try await addPeople()
    try await session.script(
      """
      select ridepulse.register_device('customer', 'c1', 'a9');
      select ridepulse.register_live_activity('r9', 'customer', 'c1', 'b9', 'at i9',
        installation_id => 'i9');
      select ridepulse.unregister_device('customer', 'a9')
      """)
    #expect(
      try await session.rows(Self.cards) == [
        "anywhere signed_out", "at i1 -", "at i2 -", "at i9 signed_out", "of c2 -",
      ])
  }

  @Test func `R76: the next person of a phone has nothing of the former one`() async throws {
    try await addPeople()
    // The same token, and a new token of the same installation.
    try await session.script(
      "select ridepulse.register_device('customer', 'c3', 'a1', installation_id => 'i1')")
    #expect(try await session.rows(Self.cards).contains("at i1 signed_out"))
    #expect(try await session.rows(Self.cards).contains("at i2 -"))
    try await session.script(
      "select ridepulse.register_device('customer', 'c3', 'a7', installation_id => 'i2')")
    #expect(try await session.rows(Self.cards).contains("at i2 signed_out"))
    #expect(
      try await session.rows(Self.starts) == [
        "d1 signed_out", "d2 signed_out", "d3 signed_out", "d4 -",
      ])
    #expect(
      try await session.rows(Self.phones)
        == ["c3 a1 -", "c1 a2 replaced", "c1 a3 -", "c2 a4 -", "c3 a7 -"])
    // The former person's cards stay withdrawn.
    try await session.script(
      """
      select ridepulse.register_live_activity('r1', 'customer', 'c1', 'b1', 'at i1',
        installation_id => 'i1')
      """)
    #expect(try await session.rows(Self.cards).contains("at i1 signed_out"))
  }

  /// Registers a card of `c1` that was signed out, before and after its owner signs in again.
  private func expectCardFollowsSignIn() async throws {
    let again = """
      select ridepulse.register_live_activity('r1', 'customer', 'c1', 'b1', 'at i1',
        installation_id => 'i1')
      """
    try await session.script(again)
    #expect(try await session.rows(Self.cards).contains("at i1 signed_out"))
    try await session.script(
      "select ridepulse.register_device('customer', 'c1', 'a1', installation_id => 'i1')")
    try await session.script(again)
    #expect(try await session.rows(Self.cards).contains("at i1 -"))
  }

  @Test func `R76: a card that was signed out lives again only where its owner is signed in`()
    async throws
  {
    try await addPeople()
    try await session.script("select ridepulse.unregister_device('customer', 'a1')")
    try await expectCardFollowsSignIn()
  }

  @Test func `R77: a card that its app reports as gone stays gone`() async throws {
    try await addPeople()
    let end = "select ridepulse.end_live_activity('customer', 'at i1')"
    #expect(try await session.value(end) == "t")
    #expect(try await session.value(end) == "f")
    #expect(try await session.value("select ridepulse.end_live_activity('driver', 'at i2')") == "f")
    #expect(try await session.rows(Self.ended) == ["r1"])
    try await session.script(
      "select ridepulse.register_live_activity('r1', 'customer', 'c1', 'bb', 'at i1')")
    #expect(
      try await session.rows(Self.cards)
        == ["anywhere -", "at i1 dismissed", "at i2 -", "of c2 -"])
  }

  @Test func `R77: a card that a sign-out ended is live again with its owner's next registration`()
    async throws
  {
    try await addPeople()
    let end = """
      select ridepulse.end_live_activity('customer', 'at i1', 'c1', reason => 'signed_out')
      """
    #expect(try await session.value(end) == "t")
    #expect(try await session.value(end) == "f")
    #expect(try await session.rows(Self.cards).contains("at i1 signed_out"))
    try await session.script("select ridepulse.unregister_device('customer', 'a1')")
    try await expectCardFollowsSignIn()
    #expect(
      try await session.refusal(
        "select ridepulse.end_live_activity('customer', 'at i1', reason => 'ended')")
        == "22023 reason of ridepulse.end_live_activity is 'ended', which is unknown")
  }

  /// What APNs reported, and how the card ended: the app's report outweighs a token that is gone.
  @Test(arguments: [("Unregistered", "dismissed"), ("ended", "ended"), ("expired", "expired")])
  func `R77: a card that had ended before ends only once`(
    reported: String, expected: String
  ) async throws {
    try await addPeople()
    try await session.script(
      """
      insert into ridepulse.token_outcomes (kind, token_id, gone_reason, gone_since)
      select 'activity', id, '\(reported)', 'infinity' from ridepulse.live_activities
      where activity_id = 'at i1'
      """)
    #expect(
      try await session.value("select ridepulse.end_live_activity('customer', 'at i1')") == "f")
    try await session.script("select ridepulse.unregister_device('customer', 'a1')")
    _ = try await TokenOutcomes(session: session).apply()
    #expect(try await session.rows(Self.cards).contains("at i1 \(expected)"))
    #expect(try await session.rows(Self.ended) == ["r3"])
  }

  @Test func `R76: an answer that arrives late changes nothing of what was withdrawn`()
    async throws
  {
    try await addPeople()
    try await session.script(
      """
      select ridepulse.unregister_device('customer', 'a1');
      insert into ridepulse.token_outcomes (kind, token_id, gone_reason, gone_since)
      select k, 1, 'Unregistered', 'infinity' from unnest(array['phone', 'activity', 'start']) k
      """)
    _ = try await TokenOutcomes(session: session).apply()
    #expect(try await session.rows(Self.phones).first == "c1 a1 signed_out")
    #expect(try await session.rows(Self.cards).contains("at i1 signed_out"))
    #expect(try await session.rows(Self.starts).first == "d1 signed_out")
  }

  @Test func `R77: a start token is withdrawn until its next registration`() async throws {
    try await addPeople()
    let withdraw = "select ridepulse.unregister_push_to_start('customer', 'D2')"
    #expect(try await session.value(withdraw) == "t")
    #expect(try await session.value(withdraw) == "f")
    #expect(try await session.rows(Self.starts).contains("d2 withdrawn"))
    let valid = "select count(*) from ridepulse.current_start_tokens where token = 'd2'"
    #expect(try await session.value(valid) == "0")
    try await session.script("select ridepulse.register_push_to_start('customer', 'c1', 'd2', 'T')")
    #expect(try await session.value(valid) == "1")
  }

  @Test func `R76: a start token that was signed out is valid again only where its owner is`()
    async throws
  {
    try await addPeople()
    try await session.script(
      "select ridepulse.sign_out('c1'), ridepulse.unregister_device('customer', 'a4')")
    // d1 names its installation; d3 names none, as an empty text says.
    let late = """
      select ridepulse.register_push_to_start('customer', 'c1', 'd1', 'T', installation_id => 'i1'),
        ridepulse.register_push_to_start('customer', 'c1', 'd3', 'T', installation_id => '')
      """
    try await session.script(late)
    #expect(
      try await session.rows(Self.starts)
        == ["d1 signed_out", "d2 signed_out", "d3 signed_out", "d4 signed_out"])
    try await session.script(
      "select ridepulse.register_device('customer', 'c1', 'a2', installation_id => 'i2')")
    try await session.script(late)
    #expect(
      try await session.rows(Self.starts) == [
        "d1 signed_out", "d2 signed_out", "d3 -", "d4 signed_out",
      ])
    try await session.script(
      "select ridepulse.register_device('customer', 'c1', 'a1', installation_id => 'i1')")
    try await session.script(late)
    #expect(try await session.rows(Self.starts).first == "d1 -")
  }

  @Test func `R78: a ride of another person stays when its driver is erased`() async throws {
    try await session.script(
      """
      insert into ridepulse.rides (id, state, driver_id, attributes) values
        ('alone', 'a', 'd1', '{"driver_id": "d1", "n": 1}'),
        ('shared', 'a', 'd1', '{"passenger_id": "p9"}');
      insert into ridepulse.agenda (ride_id, fence, leased_until)
      select id, 1, '-infinity' from ridepulse.rides;
      insert into ridepulse.events (ride_id, event, data, former)
      values ('shared', 'x', '{}', '{"driver": "d1", "attributes": "[\\"d1\\"]"}');
      select ridepulse.forget('d1', 'driver')
      """)
    #expect(
      try await session.rows("select id, driver_id, attributes from ridepulse.rides")
        == [#"shared - {"passenger_id": "p9"}"#])
    #expect(
      try await session.rows(
        "select former ->> 'attributes' from ridepulse.events where event = 'x'")
        == ["{}"])
  }

  @Test func `R16: a registration may probe again, and keeps APNs' pause`() async throws {
    try await session.script(
      """
      select ridepulse.register_device('customer', 'c1', 'a1');
      update ridepulse.devices set is_probed = true, refusals = 3, quarantined_at = now(),
        quiet_until = now() + interval '1 h';
      insert into ridepulse.token_outcomes (kind, token_id, is_probed) values ('phone', 1, true);
      select ridepulse.register_device('customer', 'c1', 'a1')
      """)
    let state = "select is_probed, quiet_until is not null from ridepulse."
    #expect(try await session.rows(state + "current_devices") == ["f t"])
    _ = try await TokenOutcomes(session: session).apply()
    #expect(try await session.rows(state + "devices") == ["f t"])
    try await session.script("select ridepulse.register_device('customer', 'c1', 'a1', 'sandbox')")
    #expect(try await session.rows(state + "devices") == ["f f"])
  }

  @Test func `R16: lifting a quarantine counts refusals that are not applied yet`() async throws {
    try await session.script(
      """
      select ridepulse.register_device('customer', 'c1', 'a1');
      insert into ridepulse.token_outcomes (kind, token_id, is_refused)
      select 'phone', 1, true from generate_series(1, 3)
      """)
    let quarantine = "select count(*) from ridepulse.quarantine"
    #expect(try await session.value(quarantine) == "1")
    #expect(try await session.value("select ridepulse.unquarantine('driver')") == "0")
    #expect(try await session.value("select ridepulse.unquarantine('customer')") == "1")
    #expect(try await session.value(quarantine) == "0")
    _ = try await TokenOutcomes(session: session).apply()
    #expect(
      try await session.rows("select refusals, quarantined_at from ridepulse.devices") == ["0 -"])
  }
}
