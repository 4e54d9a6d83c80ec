import Testing
import TestSupport

/// Clients that hold the admin server's connections as long as they can: see Slow/slow.py.
final class SlowClients {
  private let process: LineProcess

  init(_ client: APIClient, _ how: String, count: Int, from addresses: [String]) throws {
    let port = client.url.split(separator: ":").last ?? ""
    process = try LineProcess(
      "/usr/bin/python3",
      [Project.path("Tests/RidePulseTests/Slow/slow.py"), String(port), how, "\(count)"]
        + addresses)
    #expect(process.firstLine == "held")
  }

  deinit { end() }

  /// Closes the clients' connections.
  func end() { process.stop() }

  /// Waits until the server has closed this many of them.
  func closed(_ count: Int) async throws {
    let process = process
    try await wait(until: "slow.py counts \(count) closed: \(process.printed.suffix(3))") {
      process.printed.last.flatMap { Int($0) } ?? 0 >= count
    }
  }
}
