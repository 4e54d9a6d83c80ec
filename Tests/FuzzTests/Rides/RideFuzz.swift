import Testing

@testable import RideCore

/// Whatever a ride's rows contain and whatever the clock shows, a decision terminates, returns no
/// more pushes than allowed, and leaves nothing that stays due forever.
@Suite struct `Fuzzing of rides` {
  /// The outcomes that the cases must produce: with fewer of them the test would prove nothing.
  private static let wanted = [
    "alert", "background", "liveactivity", "start", "update", "end", "every", "at",
    "cron", "pending", "accepted", "rejected", "expired", "uncertain", "suppressed", "held",
    "mutated memo", "journal", "broadcast", "need",
  ]

  @Test func `No ride does harm`() {
    var seen: Set<String> = []
    let count = Fuzz.run("rides", cases: 800) { chance in
      var life = RideLife(&chance)
      for _ in 0..<life.chance.number(1...5) { try life.step() }
      try life.rest()
      seen.formUnion(life.seen)
    }
    guard count >= 800 else { return }
    for word in Self.wanted { #expect(seen.contains(word), "\(word)") }
  }
}
