import Foundation
import TestSupport
import Testing

@testable import APNSSimulator

/// Runs the built binary as a shell does.
@Suite struct BinaryTests {
  private func run(_ words: String...) throws -> Tool {
    try Tool.run(RunningSimulator.binary.path, words)
  }

  @Test func `help is what the golden text says`() throws {
    let tool = try run("--help")
    #expect(tool.status == 0 && tool.errors == "")
    #expect(tool.output == goldenHelp)
  }

  @Test func `an unknown flag names the nearest`() throws {
    let tool = try run("--fault", "x")
    #expect(tool.status == 64 && tool.output == "")
    let hint = #"unknown "--fault"; the nearest known is --faults; see apns-simulator --help"#
    #expect(tool.errors == "apns-simulator: \(hint)\n")
  }

  @Test func `the ready line tells port and directory`() throws {
    let simulator = try RunningSimulator()
    let place = "https://127.0.0.1:\(simulator.port) state=\(simulator.directory.path)"
    #expect(simulator.readyLine == "apns-simulator: listening on \(place)")
  }

  @Test func `the end of standard input ends it`() throws {
    let simulator = try RunningSimulator()
    #expect(simulator.stop() == 0)
  }

  @Test func `SIGTERM ends it with status 0`() throws {
    let simulator = try RunningSimulator()
    #expect(simulator.terminate() == 0)
  }

  @Test func `a port in use is one clear line`() throws {
    let simulator = try RunningSimulator()
    let tool = try run(
      "--port", String(simulator.port), "--state", simulator.directory.path)
    #expect(tool.status == 1 && tool.output == "")
    let place = "127.0.0.1:\(simulator.port)"
    #expect(tool.errors == "apns-simulator: \(place): listen: Address already in use\n")
  }

  @Test func `a bad faults file is refused at start`() throws {
    let file = try ScratchFile(Data(#"[{"action":{"reset":"BOOM"}}]"#.utf8))
    let directory = FileManager.default.temporaryDirectory.path + "/sim-\(UUID().uuidString)"
    defer { try? FileManager.default.removeItem(atPath: directory) }
    let tool = try run("--port", "0", "--state", directory, "--faults", file.url.path)
    #expect(tool.status == 1 && tool.output == "")
    let place = "\(file.url.path): faults[0].action.reset"
    let error = #"apns-simulator: \#(place): found "BOOM", expected one of NO_ERROR, "#
    #expect(tool.errors.hasPrefix(error))
    #expect(tool.errors.split(separator: "\n").count == 1)
  }
}
