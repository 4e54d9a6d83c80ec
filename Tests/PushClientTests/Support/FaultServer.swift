import Foundation
import TestSupport
import Testing

/// Runs `FaultServer/server.py` in a separate process, which ends when its standard input closes.
final class FaultServer: Sendable {
  /// One line printed by the server.
  struct Line: Decodable, Sendable {
    var event: String
    var connection: Int?
    var stream: Int32?
    var headers: [String: String]?
    var body: Int?
    var code: Int?
    var port: Int?
    var text: String?
  }

  let port: Int
  private let process: LineProcess

  var url: String { "https://127.0.0.1:\(port)" }

  /// - Parameter certificate: A file of `Fixtures` with the server's key.
  init(_ script: String, certificate: String = "server.pem") async throws {
    let fixtures = try Fixtures.shared.get()
    process = try LineProcess(
      "/usr/bin/python3",
      [
        Project.path("Tests/PushClientTests/FaultServer/server.py"), fixtures.path(certificate),
        fixtures.path("server.key"), script,
      ])
    port = try #require(
      Self.line(process.firstLine)?.port, "the fault server did not start: \(process.firstLine)")
  }

  private static func line(_ text: String) -> Line? {
    try? JSONDecoder().decode(Line.self, from: Data(text.utf8))
  }

  /// Waits until the server has printed a matching line.
  func wait(until test: (Line) -> Bool) async {
    for await text in process.lines {
      if let line = Self.line(text), test(line) { return }
    }
  }

  /// Stops the server and returns all lines printed since it was ready.
  func stop() async -> [Line] {
    process.closeInput()
    await wait { _ in false }
    return process.printed.dropFirst().compactMap(Self.line)
  }
}

extension FaultServer.Line {
  /// The `kid` of the request's provider token; nil without one.
  var keyID: String? {
    guard
      let header = headers?["authorization"]?.dropFirst("bearer ".count).split(separator: ".")
        .first
    else { return nil }
    var base64 = header.replacing("-", with: "+").replacing("_", with: "/")
    base64 += String(repeating: "=", count: (4 - base64.count % 4) % 4)
    let object = Data(base64Encoded: String(base64)).flatMap {
      try? JSONDecoder().decode([String: String].self, from: $0)
    }
    return object?["kid"]
  }
}

extension [FaultServer.Line] {
  var requests: [FaultServer.Line] { filter { $0.event == "request" } }

  /// The key IDs of the requests on each connection.
  var keysByConnection: [Int: Set<String?>] {
    requests.reduce(into: [:]) { keys, line in
      keys[line.connection ?? -1, default: []].insert(line.keyID)
    }
  }

  /// The `apns-id` of each request that arrived.
  var requestIDs: [String] {
    filter { $0.event == "request" }.compactMap { $0.headers?["apns-id"] }
  }
}
