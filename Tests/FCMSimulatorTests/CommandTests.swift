import Foundation
import TestSupport
import Testing

@testable import FCMSimulator
@testable import SimulatorKit

@Suite struct FCMCommandTests {
  @Test func `each flag is parsed`() throws {
    let words = [
      "--port", "0", "--state=/tmp/s", "--project", "a", "--project=b", "--strict", "all",
      "--lenient", "ttl", "--device-rate", "240/60", "--quota", "5/1", "--token-life", "9",
      "--duplicate", "1/50", "--seed", "3", "--faults", "f", "--max-streams", "7", "--latency", "2",
      "--quiet",
      "--exit-with-stdin", "--inbox", "127.0.0.1:2199",
    ]
    var expected = Options()
    expected.port = 0
    expected.stateDirectory = "/tmp/s"
    expected.projects = ["a", "b"]
    expected.strictness = [.priority, .cards, .payload, .size, .high, .androidV2]
    expected.deviceRate = TokenRate("240/60")
    expected.quota = TokenRate("5/1")
    expected.tokenLifeSeconds = 9
    expected.duplicates = Share("1/50")
    expected.seed = 3
    expected.faultsPath = "f"
    expected.maximumStreams = 7
    expected.inbox = Endpoint("127.0.0.1:2199")
    expected.latencyMilliseconds = 2
    expected.isQuiet = true
    expected.exitsWithStandardInput = true
    #expect(try Command.parse(words) == .serve(expected))
    #expect(try Command.parse(["--help"]) == .help)
  }

  @Test(arguments: [
    (["--projct"], #"unknown "--projct"; the nearest known is --project"#),
    (
      ["--strict", "x"],
      #"--strict: found "x", expected one of priority, ttl, cards, payload, size, high, "#
        + "android-v2, unknown, all"
    ),
    (["--quota", "5"], #"--quota: found "5", expected MESSAGES/SECONDS such as 240/60"#),
    (
      ["--duplicate", "2/1"], #"--duplicate: found "2/1", expected MESSAGES/MESSAGES such as 1/50"#
    ),
    (
      ["--inbox", "2199"],
      #"--inbox: found "2199", expected HOST:PORT such as 127.0.0.1:2199; the host is an IPv4 address"#
    ),
    (["--project", ""], #"--project: found "", expected a word"#),
  ])
  func `a wrong flag is named`(words: [String], message: String) {
    #expect(throws: UsageError(description: message)) { try Command.parse(words) }
  }

  @Test func `wrong usage ends with 64`() throws {
    let path = SimulatorProcess.binary("fcm-simulator").path
    #expect(try Tool.run(path, ["--nonsense"]).status == 64)
    let help = try Tool.run(path, ["--help"])
    #expect(help.status == 0)
    for flag in Flag.allCases { #expect(help.output.contains(flag.rawValue), "\(flag)") }
  }
}
