import Base
import Testing

@testable import PostgresStore
@testable import RideCore

/// What claims read of Android phones, and dismissals of their cards.
@Suite("Android phones and their cards", .timeLimit(.minutes(60))) struct AndroidCardTests {
  private let session: PostgresSession

  init() async throws {
    session = try PostgresSession(conninfo: try await migratedDatabase())
    try await session.script(
      """
      insert into ridepulse.rides (id, state, customer_id) values ('r.1', 'on_trip', 'c1');
      select ridepulse.register_device('customer', 'c1', 'x:Y', platform => 'android');
      delete from ridepulse.events
      """)
  }

  private func view() async throws -> RideView {
    try await RideQueries(session: session)
      .view("e", ride: "r.1", data: "{}", apps: [.customer]).view
  }

  private func end(_ card: String, owner: String? = nil, app: String = "customer") async throws
    -> String?
  {
    try await session.value(
      "select ridepulse.end_live_activity($1, $2, $3)", [app, card, owner])
  }

  /// The platform, the environment and whether alerts are allowed, and the phone as it is read.
  @Test(
    arguments: [
      ("ios", nil, nil, Platform.ios, nil, false), ("ios", "sandbox", true, .ios, .sandbox, false),
      ("ios", "production", false, .ios, .production, true), ("ios", nil, false, .ios, nil, true),
      ("ios", "sandbox", false, .ios, .sandbox, true), ("android", nil, nil, .android, nil, false),
      ("android", nil, true, .android, nil, false), ("android", nil, false, .android, nil, true),
    ] as [(String, String?, Bool?, Platform, APNsEnvironment?, Bool)])
  func `a claim reads the phone's platform, environment and alerts`(
    word: String, environment: String?, alerts: Bool?, platform: Platform,
    expected: APNsEnvironment?, isOff: Bool
  ) async throws {
    _ = try await session.value(
      "update ridepulse.devices set platform = $1, environment = $2, alerts = $3::boolean returning 1",
      [word, environment, alerts.map { $0 ? "t" : "f" }])
    let phone = try #require(try await view().phones.first)
    #expect(phone.platform == platform && phone.environment == expected)
    #expect(phone.hasAlertsOff == isOff)
    #expect(phone.token == "x:Y")
    // A replay of claims makes the same phone of the word.
    var replayed = PhoneReach(PhoneReach(phone).word)
    #expect(replayed == PhoneReach(phone))
    replayed.hasAlertsOff.toggle()
    #expect(replayed != PhoneReach(phone))
  }

  @Test func `a dismissed card is gone from its phone, and makes its ride due once`() async throws {
    #expect(try await end("1.r.1", owner: "c2") == "f")
    #expect(try await end("1.r.1", owner: "c1") == "t")
    #expect(try await end("1.r.1", owner: "c1") == "f")
    #expect(try await end("1.r.1") == "f")
    #expect(
      try await session.rows("select ride_id, event from ridepulse.events") == ["r.1 card_ended"])
    let card = try #require(try await view().cards.first)
    #expect(card.target == .phone(1) && card.isGone)
    #expect(card.environment == nil && card.ownerID == "c1")
    #expect(try await view().cards.count == 1)
  }

  @Test(arguments: ["2.r.1", "1.", "1", ".r.1", "01.r.1", "-1.r.1", "9999999999999999999.r", "x.r"])
  func `what names no Android phone and ride is not a card`(card: String) async throws {
    #expect(try await end(card) == "f")
    #expect(try await session.value("select count(*) from ridepulse.live_activities") == "0")
  }

  @Test func `a card of another app, or of an iPhone, is not dismissed by its phone`() async throws
  {
    try await session.script("select ridepulse.register_device('customer', 'c1', 'ab')")
    #expect(try await end("1.r.1", app: "driver") == "f")
    #expect(try await end("2.r.1") == "f")
    #expect(
      try await session.refusal("select ridepulse.end_live_activity('customer', 'a', '')")
        == "22023 ridepulse.end_live_activity needs owner_id, got ''")
  }

  @Test func `a card of an iPhone is ended by its owner, and by no other person`() async throws {
    try await session.script(
      "select ridepulse.register_live_activity('r.1', 'customer', 'c1', 'b1', 'A1')")
    #expect(try await end("A1", owner: "c2") == "f")
    #expect(try await end("A1", owner: "c1") == "t")
    #expect(try await view().cards.map(\.target) == [.activity(1)])
  }

  @Test func `doctor counts phones by platform`() async throws {
    try await session.script("select ridepulse.register_device('customer', 'c1', 'ab', 'sandbox')")
    let counts = try await PhoneCount.all(session)
    #expect(counts.map(\.platform) == [.ios, .android])
    #expect(counts.map(\.environment) == [.sandbox, nil] && counts.map(\.live) == [1, 1])
  }

  /// A suffix, and the tokens that it finds.
  @Test(
    arguments: [
      ("…x:YaBcDe", ["x:YaBcDe"]), ("YaBcDe", ["x:YaBcDe"]), ("yabcde", []),
      ("AABBCC", ["aabbcc", "AABBCC"]), ("aabbcc", ["aabbcc"]), ("AaBBCc", ["aabbcc"]),
    ])
  func `a search by token goes by case for Android, and not for APNs`(
    suffix: String, tokens: [String]
  ) async throws {
    try await session.script(
      """
      delete from ridepulse.devices;
      select ridepulse.register_device('customer', 'c1', 'x:YaBcDe', platform => 'android');
      select ridepulse.register_device('customer', 'c2', 'AABBCC', platform => 'android');
      select ridepulse.register_device('customer', 'c3', 'aabbcc')
      """)
    let key = try #require(TokenSuffix(suffix))
    let found = try await PushSearch(session: session).result(of: .token(key))
    let stored = try await session.rows("select token from ridepulse.devices order by token")
    #expect(stored.count == 3)
    #expect(
      Set(found.phones.items.map(\.tokenSuffix)) == Set(tokens.map { String($0.suffix(6)) }))
  }
}
