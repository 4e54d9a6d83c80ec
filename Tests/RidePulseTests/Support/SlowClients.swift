import Foundation
import Synchronization
import Testing

/// Clients that hold the admin server's connections as long as they can: see Slow/slow.py.
final class SlowClients {
  private let process = Process()
  private let input = Pipe()
  private let lines = Lines()

  final class Lines: Sendable {
    private let text = Mutex("")
    func add(_ data: Data) { text.withLock { $0 += String(decoding: data, as: UTF8.self) } }
    var all: [Substring] { text.withLock { $0 }.split(separator: "\n") }
  }

  init(_ client: APIClient, _ how: String, count: Int, from addresses: [String]) async throws {
    let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .deletingLastPathComponent().appendingPathComponent("Slow/slow.py").path
    let output = Pipe()
    let port = client.url.split(separator: ":").last ?? ""
    process.executableURL = URL(fileURLWithPath: "/usr/bin/python3")
    process.arguments = [script, String(port), how, "\(count)"] + addresses
    process.standardInput = input
    process.standardOutput = output
    let lines = lines
    output.fileHandleForReading.readabilityHandler = { handle in
      let data = handle.availableData
      if data.isEmpty { handle.readabilityHandler = nil }
      lines.add(data)
    }
    try process.run()
    try await until { lines.all.first == "held" }
  }

  deinit { end() }

  /// Closes the clients' connections.
  func end() {
    try? input.fileHandleForWriting.close()
    process.waitUntilExit()
  }

  /// Waits until the server has closed this many of them.
  func closed(_ count: Int) async throws {
    let lines = lines
    try await until { lines.all.last.flatMap { Int($0) } ?? 0 >= count }
  }

  private func until(_ holds: () -> Bool) async throws {
    for _ in 0..<6000 {
      if holds() { return }
      try await Task.sleep(for: .milliseconds(20))  // poll: another process says it, bit by bit
    }
    throw TestFailure("slow.py said \(lines.all.suffix(3))")
  }
}
