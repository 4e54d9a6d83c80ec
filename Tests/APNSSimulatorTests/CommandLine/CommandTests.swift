import Testing

@testable import APNSSimulator

@Suite struct CommandTests {
  @Test func `without words all is default`() throws {
    #expect(try Command.parse([]) == .serve(Options()))
  }

  @Test func `each flag is read`() throws {
    let words = [
      "--port", "0", "--state=/tmp/s", "--sink", "--team-id", "T", "--key-id", "K", "--topic",
      "com.a", "--topic=com.b", "--environment", "sandbox", "--faults", "f.json",
      "--initial-streams", "2", "--max-streams", "50", "--latency", "9", "--exit-with-stdin",
      "--quiet",
    ]
    var expected = Options()
    expected.port = 0
    expected.stateDirectory = "/tmp/s"
    expected.isSink = true
    expected.teamID = "T"
    expected.keyID = "K"
    expected.bundleIDs = ["com.a", "com.b"]
    expected.environment = .sandbox
    expected.faultsPath = "f.json"
    expected.initialStreams = 2
    expected.maximumStreams = 50
    expected.latencyMilliseconds = 9
    expected.exitsWithStandardInput = true
    expected.isQuiet = true
    #expect(try Command.parse(words) == .serve(expected))
  }

  @Test(arguments: [
    (["--prot"], #"unknown "--prot"; the nearest known is --port"#),
    (["sink"], #"unknown "sink"; the nearest known is --sink"#),
    (["--port"], "--port needs a value"),
    (["--sink=yes"], "--sink=yes: no value"),
    (["--port", "65536"], #"--port: found "65536", expected a number from 0 to 65535"#),
    (["--port", "x"], #"--port: found "x", expected a number from 0 to 65535"#),
    (["--environment", "dev"], #"--environment: found "dev", expected production or sandbox"#),
    (["--state", ""], #"--state: found "", expected a word"#),
  ])
  func `wrong usage is refused`(words: [String], message: String) {
    #expect(throws: Command.UsageError(description: message)) { try Command.parse(words) }
  }

  @Test(arguments: [("", "abc", 3), ("abc", "abc", 0), ("kitten", "sitting", 3)])
  func `distance counts changed letters`(left: String, right: String, distance: Int) {
    #expect(Command.distance(left, right) == distance)
  }
}
