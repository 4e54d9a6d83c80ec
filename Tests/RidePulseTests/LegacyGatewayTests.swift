import Foundation
import LocalPostgres
import Testing

@Suite struct `Old senders` {
  private static let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .appendingPathComponent("Legacy/send.php").path

  /// A gateway beside a service, both on a stage's database.
  private func gateway(_ stage: Stage, _ words: [String] = []) throws -> Server {
    try Server(
      stage.environment,
      ["--app", "customer", "--port", "0", "--feedback-port", "0"] + words,
      command: "legacy-gateway")
  }

  /// Sends pushes 0 to `count`, and waits for so many error packets; what the script printed.
  private func send(
    _ gateway: Server, _ count: Int, errors: Int, _ tokens: [Int: String] = [:]
  ) async throws -> [Substring] {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/php")
    process.arguments =
      [Self.script, try #require(gateway.said("port")), "\(count)", "\(errors)"]
      + tokens.map { "\($0)=\($1)" }
    // A file and not a pipe, whose end another test's process may hold open.
    let output = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    try Data().write(to: output)
    defer { try? FileManager.default.removeItem(at: output) }
    process.standardOutput = try FileHandle(forWritingTo: output)
    process.standardError = process.standardOutput
    try await withCheckedThrowingContinuation { continuation in
      process.terminationHandler = { _ in continuation.resume() }
      do { try process.run() } catch { continuation.resume(throwing: error) }
    }
    return try String(contentsOf: output, encoding: .utf8).split(separator: "\n")
  }

  private static let verdicts = """
    select status, reason, count(*) from ridepulse.deliveries where rule = 'legacy'
    group by status, reason order by status
    """

  @Test func `10,000 pushes of a PHP script, one token bad: all others arrive, each once`()
    async throws
  {
    try await Stage.run { stage in
      let bad = String(repeating: "ba", count: 32)
      try stage.tokens(#"{"tokens": [{"token": "\#(bad)", "environment": "sandbox"}]}"#)
      let server = try Server(stage.environment)
      let gateway = try gateway(stage, ["--environment", "production"])
      let said = try await send(gateway, 10_000, errors: 1, [4321: bad])
      #expect(said == ["command 8 status 8 identifier 4321", "done"])
      try await stage.until(
        "select count(*) from ridepulse.deliveries where status = 'accepted'", is: "9999",
        within: .seconds(240))
      try await stage.settled()
      let verdicts = try await stage.rows(Self.verdicts)
      #expect(verdicts == [["accepted", nil, "9999"], ["rejected", "BadDeviceToken", "1"]])
      let accepted = try stage.arrivals().filter(\.isAccepted)
      #expect(accepted.count == 9999 && Set(accepted.map(\.token)).count == 9999)
      #expect(accepted.allSatisfy { $0.header("apns-push-type") == "alert" })
      // A pseudo ride that waits for nothing leaves the agenda.
      #expect(try await stage.value("select count(*) from ridepulse.agenda") == "0")
      #expect(gateway.stop() == 0)
      #expect(server.stop() == 0)
    }
  }
}
