import Foundation
import TestSupport
import Testing

@testable import APNSSimulator
@testable import SimulatorKit

/// Clients that violate the protocol; they must not affect the next correct push.
@Suite struct RobustnessTests {
  private static let preface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)
  private static let settings: [UInt8] = [0, 0, 0, 4, 0, 0, 0, 0, 0]
  private static let noHPACK: [UInt8] = [0, 0, 3, 1, 5, 0, 0, 0, 1, 0xFF, 0xFF, 0xFF]
  /// HEADERS with a length greater than the bytes that follow.
  private static let halfHeaders: [UInt8] = [0, 1, 0, 1, 4, 0, 0, 0, 1, 0x82]

  /// HEADERS with END_STREAM: POST, https, path /, authority a.
  private static let bareRequest: [UInt8] =
    [0, 0, 6, 1, 5, 0, 0, 0, 1] + [0x83, 0x87, 0x84, 0x01, 0x01, 0x61]

  private static let clients: [(String, [UInt8])] = [
    ("nothing at all", []),
    ("no HTTP/2", Array("GET / HTTP/1.1\r\n\r\n".utf8)),
    ("half a preface", Array(preface.prefix(10))),
    ("a preface, then noise", preface + [UInt8](repeating: 0xFF, count: 5000)),
    ("a broken header block", preface + settings + noHPACK),
    ("half a request", preface + settings + halfHeaders),
  ]

  /// The arguments of a client that disconnects when its input ends.
  private static func words(_ simulator: RunningSimulator) -> [String] {
    ["s_client", "-connect", "127.0.0.1:\(simulator.port)", "-quiet", "-no_ign_eof"]
  }

  @Test(arguments: clients)
  func `a protocol violation leaves no connection behind`(name: String, bytes: [UInt8]) throws {
    let simulator = try RunningSimulator()
    _ = try Tool.run(
      "/usr/bin/openssl",
      Self.words(simulator) + ["-alpn", "h2"],
      input: Data(bytes))
    #expect(try simulator.push().status == 200)
    let stats = try simulator.control("GET", "stats").body
    #expect(stats.contains(#""connections":{"open":1,"total":3}"#), "\(stats)")
  }

  /// A client that offers no protocol at all may use HTTP/2 with prior knowledge, as at Apple.
  @Test(arguments: [(["-alpn", "http/1.1"], 0), ([], 1), (["-alpn", "h2"], 1)])
  func `R104 a client that offers other protocols only is refused`(
    words: [String], requests: Int
  ) throws {
    let simulator = try RunningSimulator()
    let request = Data(Self.preface + Self.settings + Self.bareRequest)
    _ = try Tool.run("/usr/bin/openssl", Self.words(simulator) + words, input: request)
    let stats = try simulator.control("GET", "stats").body
    #expect(stats.contains(#""connections":{"open":1,"total":2}"#), "\(stats)")
    #expect(try simulator.records().count == requests)
  }

  @Test func `R104 a client without ALPN is served`() throws {
    let simulator = try RunningSimulator()
    let words = try simulator.words() + ["--no-alpn", "--http2-prior-knowledge"]
    #expect(Reply(try simulator.curl(words).output).status == 200)
  }

  @Test func `plain HTTP is refused`() throws {
    let simulator = try RunningSimulator()
    let tool = try Tool.run("/usr/bin/curl", ["-s", "http://127.0.0.1:\(simulator.port)/"])
    #expect(tool.status != 0)
    #expect(try simulator.push().status == 200)
  }

  @Test func `a client that disconnects before a delayed answer is dropped`() throws {
    let simulator = try RunningSimulator()
    try simulator.setFaults(#"[{"action":{"delay_ms":3000},"times":1}]"#)
    let tool = try simulator.curl(simulator.words() + ["--max-time", "1"])
    #expect(tool.status == 28)
    try simulator.setFaults(#"[{"action":{"delay_ms":4000}}]"#)
    #expect(try simulator.push().status == 200, "the first delay ran out meanwhile")
  }
}

/// Each connection that ends has its reason in the log.
@Suite struct CloseReasonTests {
  private static let preface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)
  private static let badHeaders: [UInt8] =
    [0, 0, 0, 4, 0, 0, 0, 0, 0] + [0, 0, 3, 1, 5, 0, 0, 0, 1, 0xFF, 0xFF, 0xFF]

  /// Runs a client and waits for the last log line of its connection.
  private func check(
    _ reason: String, options words: [String] = [], _ client: (RunningSimulator) throws -> Void
  ) async throws {
    let simulator = try RunningSimulator(words, logs: true)
    try client(simulator)
    try await wait(until: "the log has: \(reason)") {
      try simulator.log().contains(reason)
    }
  }

  /// A client of which OpenSSL does the handshake.
  private func client(_ words: [String], sends bytes: [UInt8] = []) -> (RunningSimulator) throws
    -> Void
  {
    { simulator in
      let connect = ["s_client", "-connect", "127.0.0.1:\(simulator.port)", "-quiet"]
      _ = try Tool.run(
        "/usr/bin/openssl", connect + ["-no_ign_eof"] + words, input: Data(bytes))
    }
  }

  @Test func `R104 a failed handshake is logged with OpenSSL's reason`() async throws {
    try await check("connection 1: TLS handshake failed: error:", client(["-alpn", "http/1.1"]))
    try await check("http request") { simulator in
      _ = try Tool.run("/usr/bin/curl", ["-s", "http://127.0.0.1:\(simulator.port)/"])
    }
  }

  @Test func `R104 the client's alert is in the log, in quiet mode, too`() async throws {
    try await check("alert unknown ca", options: ["--quiet"]) { simulator in
      _ = try Tool.run("/usr/bin/curl", ["-s", "https://127.0.0.1:\(simulator.port)/"])
    }
  }

  @Test func `R104 a client without HTTP/2 is named`() async throws {
    try await check(
      "connection 1: not HTTP/2: ", client([], sends: Array("GET / HTTP/1.1\r\n\r\n".utf8)))
    try await check(
      "connection 1: closed after GOAWAY COMPRESSION_ERROR",
      client([], sends: Self.preface + Self.badHeaders))
  }

  @Test func `R104 a client that leaves is named`() async throws {
    try await check("connection 1: closed by the client\n") { _ = try $0.push() }
    try await check("closed by the client with GOAWAY NO_ERROR") { _ = try $0.frames() }
    try await check("closed by the client in the TLS handshake") { simulator in
      _ = try Tool.run("/bin/bash", ["-c", "exec 3<>/dev/tcp/127.0.0.1/\(simulator.port)"])
    }
  }

  @Test(arguments: [
    (#"{"close":true}"#, "connection 2: closed by a fault"),
    (
      #"{"goaway":{"reason":"Shutdown"}}"#,
      #"connection 2: closed after GOAWAY NO_ERROR {"reason":"Shutdown"}"#
    ),
  ])
  func `R104 a fault that closes a connection is named`(
    action: String, reason: String
  ) async throws {
    try await check(reason) { simulator in
      try simulator.setFaults(#"[{"action":\#(action)}]"#)
      _ = try simulator.push()
    }
  }
}

@Suite struct TimersTests {
  @Test func `events leave by time, then by arrival`() {
    var timers = Timers<String>()
    for (event, time) in [("d", 9), ("a", 1), ("b", 5), ("c", 5), ("z", 50)] {
      timers.add(event, at: time)
    }
    var left: [String] = []
    while let event = timers.takeDue(at: 10) { left.append(event) }
    #expect(left == ["a", "b", "c", "d"])
    #expect(timers.nextDeadline == 50)
  }
}
