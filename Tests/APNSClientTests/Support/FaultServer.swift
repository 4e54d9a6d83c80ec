import Foundation
import Synchronization
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
  private let input: Pipe
  private let lines: AsyncStream<Line>
  private let log = Mutex<[Line]>([])

  var url: String { "https://127.0.0.1:\(port)" }

  init(_ script: String) async throws {
    let fixtures = try Fixtures.shared.get()
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/python3")
    let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .deletingLastPathComponent().appendingPathComponent("FaultServer/server.py")
    process.arguments = [
      file.path, fixtures.path("server.pem"), fixtures.path("server.key"), script,
    ]
    let input = Pipe()
    let output = Pipe()
    process.standardInput = input
    process.standardOutput = output
    self.input = input
    try process.run()
    lines = Self.lines(of: output.fileHandleForReading)
    var first: Line?
    for await line in lines {
      first = line
      break
    }
    port = try #require(first?.port, "the fault server did not start")
  }

  private static func lines(of handle: FileHandle) -> AsyncStream<Line> {
    let (stream, continuation) = AsyncStream.makeStream(of: Line.self)
    Thread.detachNewThread {
      var rest = Data()
      while true {
        let data = handle.availableData
        if data.isEmpty { break }
        rest += data
        while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
          if let line = try? JSONDecoder().decode(Line.self, from: rest[..<end]) {
            continuation.yield(line)
          }
          rest = Data(rest[(end + 1)...])
        }
      }
      continuation.finish()
    }
    return stream
  }

  /// Waits until the server has printed a matching line.
  func wait(until test: (Line) -> Bool) async {
    for await line in lines {
      log.withLock { $0.append(line) }
      if test(line) { return }
    }
  }

  /// Stops the server and returns all lines printed since its start.
  func stop() async -> [Line] {
    try? input.fileHandleForWriting.close()
    await wait { _ in false }
    return log.withLock { $0 }
  }
}

extension [FaultServer.Line] {
  /// The `apns-id` of each request that arrived.
  var requestIDs: [String] {
    filter { $0.event == "request" }.compactMap { $0.headers?["apns-id"] }
  }
}
