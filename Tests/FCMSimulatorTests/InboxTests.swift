import Foundation
import TestSupport
import Testing

@testable import FCMSimulator

/// The port that sends deliveries, with netcat's counterpart in Python.
@Suite struct InboxTests {
  private static let reader = """
    import os, socket, sys, threading
    threading.Thread(target=lambda: (sys.stdin.read(), os._exit(0)), daemon=True).start()
    stream = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
    print("ready", flush=True)
    for line in stream.makefile(): print(line, end="", flush=True)
    """

  private static func reader(of port: Substring) throws -> LineProcess {
    try LineProcess("/usr/bin/python3", ["-c", reader, String(port)])
  }

  @Test func `all who are connected get each delivery, and one that leaves disturbs nobody`()
    async throws
  {
    let simulator = try RunningFCM(["--inbox", "127.0.0.1:0"])
    try await wait(until: "its port is printed") { simulator.process.printed.count == 2 }
    let port = try #require(simulator.process.printed[1].split(separator: ":").last)
    let readers = try (0..<3).map { _ in try Self.reader(of: port) }
    #expect(readers.map(\.firstLine) == ["ready", "ready", "ready"])
    // The simulator accepts them before it answers this call.
    let token = try simulator.accessToken()
    readers[0].stop()
    for number in 0..<2 {
      let data = #""data":{"number":"\#(number)"}"#
      #expect(try simulator.send(RunningFCM.message(data), as: token).status == 200)
    }
    for reader in readers[1...] {
      try await wait(until: "both messages are there") { reader.printed.count == 3 }
      let records = try reader.printed.dropFirst().map { line in
        try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
      }
      #expect(records.map { $0?["outcome"] as? String } == ["delivered", "delivered"])
      #expect(
        records.map { ($0?["data"] as? [String: String])?["number"] } == ["0", "1"])
      #expect(records.allSatisfy { $0?["registration"] as? String == RunningFCM.fid })
    }
    for reader in readers[1...] { reader.stop() }
  }
}
