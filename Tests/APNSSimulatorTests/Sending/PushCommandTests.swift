import Foundation
import TestSupport
import Testing

@testable import APNSSimulator
@testable import SimulatorKit

@Suite struct SendingCommandTests {
  @Test func `the flags of push are parsed`() throws {
    var expected = PushOptions()
    expected.sender = SenderOptions(
      port: 9, stateDirectory: "/tmp/s", teamID: "T", keyID: "K")
    expected.file = "a.apns"
    expected.token = "cd"
    expected.topic = "com.a.b"
    expected.type = .voip
    expected.priority = 5
    expected.collapseID = "c"
    expected.expiresSeconds = 0
    let words = [
      "push", "--port", "9", "a.apns", "--state=/tmp/s", "--team-id", "T", "--key-id", "K",
      "--token", "cd", "--topic", "com.a.b", "--type", "voip", "--priority", "5", "--collapse-id",
      "c", "--expires", "0",
    ]
    #expect(try Command.parse(words) == .push(expected))
    #expect(try Command.parse(["push", "x", "--help"]) == .help(PushFlag.helpText))
  }

  @Test func `the flags of replay are parsed`() throws {
    var expected = ReplayOptions()
    expected.sender.port = 9
    expected.file = "-"
    expected.speed = 10
    #expect(
      try Command.parse(["replay", "-", "--port", "9", "--speed", "10"]) == .replay(expected))
    #expect(try Command.parse(["replay", "--help"]) == .help(ReplayFlag.helpText))
  }

  @Test(arguments: [
    (["push"], "push needs a file, or - for standard input"),
    (["replay", "--speed", "2"], "replay needs a file, or - for standard input"),
    (["push", "a", "--tokn", "x"], #"unknown "--tokn"; the nearest known is --token"#),
    (["replay", "a", "--speed", "0"], #"--speed: found "0", expected a number from 1 to 1000000"#),
    (["pusj"], #"unknown "pusj"; the nearest known is push"#),
    (["--port", "1", "replay"], "replay must be the first word"),
  ])
  func `wrong usage is refused`(words: [String], message: String) {
    #expect(throws: UsageError(description: message)) { try Command.parse(words) }
  }

  @Test func `a second file is refused`() {
    let error = #expect(throws: UsageError.self) { try Command.parse(["push", "a", "second"]) }
    #expect(error?.description.hasPrefix(#"unknown "second"; "#) == true)
  }
}

/// `apns-simulator push` against a running simulator.
@Suite struct PushCommandTests {
  private static let alert =
    #"{"Simulator Target Bundle":"com.example.customer","aps":{"alert":{"title":"Here"}}}"#

  private func push(
    _ simulator: RunningSimulator, _ words: [String], input: String = alert, state: String? = nil
  ) throws -> Tool {
    let common = ["--port", String(simulator.port), "--state", state ?? simulator.directory.path]
    return try Tool.run(
      RunningSimulator.binary.path, ["push", "-"] + common + words, input: Data(input.utf8))
  }

  @Test func `a file is sent, and its answer and effect printed`() throws {
    let simulator = try RunningSimulator(["--strict", "all"])
    let file = try ScratchFile(Data(Self.alert.utf8))
    let tool = try Tool.run(
      RunningSimulator.binary.path,
      [
        "push", file.url.path, "--port", String(simulator.port), "--state",
        simulator.directory.path, "--token", String(repeating: "cd", count: 32),
      ])
    #expect(tool.status == 0, "\(tool.errors)")
    let record = try #require(try simulator.records().first)
    #expect(record["status"] as? Int == 200)
    #expect(record["token"] as? String == String(repeating: "cd", count: 32))
    #expect(record["payload_bytes"] as? Int == #"{"aps":{"alert":{"title":"Here"}}}"#.utf8.count)
    let id = try #require(record["apns_id"] as? String)
    #expect(tool.output == "200 apns-id \(id)\nThe phone shows title \"Here\".\n")
  }

  @Test func `a refusal has its reason and detail, and status 1`() throws {
    let simulator = try RunningSimulator()
    let tool = try push(simulator, ["--priority", "7"])
    #expect(tool.status == 1)
    let lines = tool.output.split(separator: "\n")
    #expect(lines.first?.hasPrefix("400 BadPriority apns-id ") == true)
    #expect(lines.last == "apns-priority is 7, expected 10 or 5 or 1")
  }

  @Test func `an accepted push that the phone drops has the reason`() throws {
    let simulator = try RunningSimulator(["--lenient", "payloads"])
    let tool = try push(simulator, ["--topic", "com.example.driver"], input: #"{"aps":{}}"#)
    #expect(tool.status == 0)
    let text = "The phone drops it: an alert push needs a text, a badge or a sound.\n"
    #expect(tool.output.hasPrefix("200 apns-id ") && tool.output.hasSuffix(text))
  }

  @Test func `each push has a connection and a JWT of its own`() throws {
    let simulator = try RunningSimulator(["--strict", "all"])
    for _ in 0..<3 { #expect(try push(simulator, []).status == 0) }
    #expect(Set(try simulator.records().map { $0["connection"] as? Int }).count == 3)
  }

  @Test func `a simulator with another CA is not trusted`() throws {
    let (one, other) = (try RunningSimulator(), try RunningSimulator())
    let tool = try push(one, [], state: other.directory.path)
    #expect(tool.status == 1 && tool.output == "")
    #expect(tool.errors.contains("certificate verify failed"), "\(tool.errors)")
    #expect(try one.records().isEmpty)
  }

  @Test(arguments: [
    (#"{"aps":"#, "standard input: found no JSON at byte 7"),
    (#"{"aps":{}}"#, #"standard input: found no "Simulator Target Bundle""#),
  ])
  func `a wrong file fails in one line`(input: String, message: String) throws {
    let simulator = try RunningSimulator()
    let tool = try push(simulator, [], input: input)
    #expect(tool.status == 1 && tool.output == "")
    #expect(tool.errors.hasPrefix("apns-simulator: " + message), "\(tool.errors)")
    #expect(tool.errors.split(separator: "\n").count == 1)
  }

  @Test func `without a simulator the port is named`() throws {
    let simulator = try RunningSimulator()
    let port = simulator.port
    simulator.stop()
    let tool = try push(simulator, [])
    #expect(tool.status == 1)
    #expect(tool.errors == "apns-simulator: 127.0.0.1:\(port): connect: Connection refused\n")
  }

  @Test func `wrong usage has status 64`() throws {
    let tool = try Tool.run(RunningSimulator.binary.path, ["push"])
    #expect(tool.status == 64)
    #expect(tool.errors.hasPrefix("apns-simulator: push needs a file"))
  }
}
