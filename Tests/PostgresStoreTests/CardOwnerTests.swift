import Testing

@testable import PostgresStore

/// Tests of a card's owner: another person's registration of the same activity.
@Suite(.timeLimit(.minutes(60))) struct CardOwnerTests {
  private let session: PostgresSession

  init() async throws {
    session = try PostgresSession(conninfo: try await migratedDatabase())
    try await session.script(
      "select ridepulse.register_live_activity('r1', 'customer', 'c1', 'b1', 'A1')")
  }

  private static let foreign =
    "select ridepulse.register_live_activity('r2', 'customer', 'c2', 'b2', 'A1')"

  private func cards() async throws -> [String] {
    try await session.rows(
      """
      select app, ride_id, owner_id, token, ended_reason from ridepulse.live_activities
      order by app
      """)
  }

  @Test func `a live card stays with its owner when another registers its activity`() async throws {
    #expect(
      try await session.refusal(Self.foreign)
        == "22023 activity_id of ridepulse.register_live_activity is a live card of another owner")
    #expect(try await cards() == ["customer r1 c1 b1 -"])
    #expect(try await session.rows("select ride_id from ridepulse.events") == ["r1"])
  }

  @Test func `its owner replaces its token and ride, and another app has cards of its own`()
    async throws
  {
    try await session.script(
      """
      select ridepulse.register_live_activity('r3', 'customer', 'c1', 'b3', 'A1');
      select ridepulse.register_live_activity('r2', 'driver', 'c2', 'b2', 'A1')
      """)
    #expect(try await cards() == ["customer r3 c1 b3 -", "driver r2 c2 b2 -"])
  }

  /// How the first owner's card ended, and what it is after the second owner's registration.
  @Test(arguments: [
    ("Unregistered", "-"), ("dismissed", "dismissed"), ("signed_out", "signed_out"),
  ])
  func `a card that has ended may be another owner's`(reason: String, after: String) async throws {
    try await session.script(
      """
      update ridepulse.live_activities set ended_at = now(), ended_reason = '\(reason)'
      """)
    try await session.script(Self.foreign)
    #expect(try await cards() == ["customer r2 c2 b2 \(after)"])
  }
}
