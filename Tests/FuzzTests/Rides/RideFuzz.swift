import Testing

@testable import RideCore

/// Whatever stands in a ride's rows, and whatever the clock says, a decision comes to an end, says
/// no more than it may, and leaves nothing that is due for ever.
@Suite struct `Fuzzing of rides` {
  /// What the cases are for: fewer would show nothing.
  private static let wanted = [
    "alert", "background", "liveactivity", "start", "update", "end", "every", "before", "after",
    "cron", "pending", "accepted", "rejected", "expired", "uncertain", "suppressed", "held",
    "spoiled memo", "journal", "broadcast", "need",
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
