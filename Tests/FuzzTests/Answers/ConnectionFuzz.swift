import Testing

/// Whatever a server sends, each push has exactly one outcome.
@Suite struct `Fuzzing of connections` {
  /// The outcomes that the cases must produce: with fewer of them the test would prove nothing.
  private static let wanted = [
    "accepted", "refused", "not sent", "GOAWAY", "REFUSED_STREAM", "queued too long", "timeout",
    "lost", "reset",
  ]

  @Test func `No server takes a push away, and none ends one twice`() {
    var seen: Set<String> = []
    let count = Fuzz.run("connections", cases: 3000) { chance in
      let talk = try ServerTalk(&chance)
      try talk.run()
      try talk.end()
      seen.formUnion(talk.seen)
    }
    guard count >= 3000 else { return }
    for word in Self.wanted { #expect(seen.contains(word), "\(word)") }
  }

  @Test func `What a server answers is what is reported`() {
    Fuzz.run("calm connections", cases: 1000) { chance in
      let talk = try ServerTalk(&chance, isCalm: true)
      try talk.run()
      try talk.end()
    }
  }
}
