import Foundation
import TestSupport
import Testing

@testable import APNSSimulator

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

  /// The last row is the control: the same bytes are a request from a client that offers h2.
  @Test(arguments: [(["-alpn", "http/1.1"], 0), ([], 0), (["-alpn", "h2"], 1)])
  func `a client that does not offer h2 is refused`(words: [String], requests: Int) throws {
    let simulator = try RunningSimulator()
    let request = Data(Self.preface + Self.settings + Self.bareRequest)
    _ = try Tool.run("/usr/bin/openssl", Self.words(simulator) + words, input: request)
    let stats = try simulator.control("GET", "stats").body
    #expect(stats.contains(#""connections":{"open":1,"total":2}"#), "\(stats)")
    #expect(try simulator.records().count == requests)
  }

  @Test func `plain HTTP is refused`() throws {
    let simulator = try RunningSimulator()
    let tool = try Tool.run("/usr/bin/curl", ["-s", "http://127.0.0.1:\(simulator.port)/"])
    #expect(tool.status != 0)
    #expect(try simulator.push().status == 200)
  }

  @Test func `a client that disconnects before a delayed answer is dropped`() throws {
    let simulator = try RunningSimulator()
    try simulator.setFaults(#"[{"action":{"delay_ms":400},"times":1}]"#)
    let tool = try simulator.curl(simulator.words() + ["--max-time", "0.2"])
    #expect(tool.status == 28)
    try simulator.setFaults(#"[{"action":{"delay_ms":600}}]"#)
    #expect(try simulator.push().status == 200, "the first delay ran out meanwhile")
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
