import Testing

/// Whatever a server sends, each push has exactly one outcome.
@Suite struct `Fuzzing of connections` {
  /// The outcomes that the cases must produce: with fewer of them the test would prove nothing.
  private static let wanted = [
    "accepted", "refused", "not sent", "GOAWAY", "REFUSED_STREAM", "queued too long", "timeout",
    "lost", "reset",
  ]

  @Test func `No answer of a server loses a push or ends one twice`() {
    var seen: Set<String> = []
    let count = Fuzz.run("connections", cases: 3000) { chance in
      let script = try ServerScript(&chance)
      try script.run()
      try script.end()
      seen.formUnion(script.seen)
    }
    guard count >= 3000 else { return }
    for word in Self.wanted { #expect(seen.contains(word), "\(word)") }
  }

  @Test func `The reported outcome is the server's answer`() {
    Fuzz.run("calm connections", cases: 1000) { chance in
      let script = try ServerScript(&chance, isCalm: true)
      try script.run()
      try script.end()
    }
  }
}
