import Foundation

/// The inbox of a running simulator, which curl reads.
package struct InboxClient: Sendable {
  /// `http://127.0.0.1:PORT`
  package let url: String

  /// Waits until the simulator has printed the address.
  package init(_ simulator: SimulatorProcess, _ name: String) async throws {
    let start = "\(name): inbox at "
    try await wait(until: "the inbox is printed") {
      simulator.printed.contains { $0.hasPrefix(start) }
    }
    guard let line = simulator.printed.first(where: { $0.hasPrefix(start) }) else {
      throw TestFailure("no inbox in \(simulator.printed)")
    }
    url = String(line.dropFirst(start.count).dropLast())
  }

  private func words(_ path: String, _ more: [String]) -> [String] {
    ["-s", "-S", "-i", "--max-time", "200"] + more + [url + path]
  }

  package func call(_ path: String, _ more: [String] = []) throws -> Reply {
    Reply(try Tool.run("/usr/bin/curl", words(path, more)).output)
  }

  /// Calls without blocking a thread, for calls that wait.
  package func callAsync(_ path: String) async throws -> Reply {
    Reply(try await Tool.runAsync("/usr/bin/curl", words(path, [])).output)
  }

  package func post(_ path: String) throws -> Reply { try call(path, ["-X", "POST"]) }

  /// Returns the records that `GET /messages` answers with.
  package func messages(_ query: String = "") throws -> [[String: Any]] {
    try Self.records(call("/messages" + query))
  }

  package static func records(_ reply: Reply) throws -> [[String: Any]] {
    let json = try JSONSerialization.jsonObject(with: Data(reply.body.utf8))
    guard reply.status == 200, let records = json as? [[String: Any]] else {
      throw TestFailure("\(reply)")
    }
    return records
  }
}
