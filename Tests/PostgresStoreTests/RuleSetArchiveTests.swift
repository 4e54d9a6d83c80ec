import Testing

@testable import PostgresStore

@Suite("The files of the last good rules", .timeLimit(.minutes(60))) struct RuleSetArchiveTests {
  private static func rules(_ digit: Character, _ text: String = "rules: []") -> ArchivedRules {
    ArchivedRules(
      digest: String(repeating: digit, count: 64),
      files: [
        .init(name: "a.yaml", text: text), .init(name: "strings/en.yaml", text: "a: \u{1F695}"),
      ]
    )
  }

  private func withArchive(_ body: (RuleSetArchive) async throws -> Void) async throws {
    let session = try PostgresSession(conninfo: try await migratedDatabase())
    try await body(RuleSetArchive(session: session))
    await session.close()
  }

  @Test func `texts come back as they were, and the newest rules first`() async throws {
    try await withArchive { archive in
      #expect(try await archive.digests().isEmpty)
      let hostile = Self.rules("a", "# \"'{}\\ NULL,\n\tb: ü\r\n")
      try await archive.store(hostile, version: "1")
      try await archive.store(Self.rules("b"), version: "1")
      #expect(try await archive.digests() == ["b", "a"].map { String(repeating: $0, count: 64) })
      #expect(try await archive.rules(of: hostile.digest) == hostile)
      #expect(try await archive.rules(of: String(repeating: "c", count: 64)) == nil)
      // They are in use again after a rollback.
      try await archive.store(hostile, version: "2")
      #expect(try await archive.digests().first == hostile.digest)
    }
  }

  @Test func `the newest few are kept, those of a share by themselves`() async throws {
    try await withArchive { archive in
      try await archive.store(Self.rules("f"), for: .share, version: "1")
      try await archive.store(Self.rules("0"), for: .share, version: "1")
      for digit in "0123456789" { try await archive.store(Self.rules(digit), version: "1") }
      #expect(try await archive.digests().compactMap(\.first) == ["9", "8", "7", "6", "5"])
      #expect(try await archive.digests(of: .share).compactMap(\.first) == ["0", "f"])
    }
  }
}
