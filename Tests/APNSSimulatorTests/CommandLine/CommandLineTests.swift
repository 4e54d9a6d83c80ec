import Foundation
import TestSupport
import Testing

@testable import APNSSimulator
@testable import SimulatorKit

@Suite struct CommandTests {
  @Test func `without arguments every option has its default`() throws {
    #expect(try Command.parse([]) == .serve(Options()))
  }

  @Test func `each flag is parsed`() throws {
    let words = [
      "--port", "0", "--state=/tmp/s", "--sink", "--team-id", "T", "--key-id", "K", "--topic",
      "com.a", "--topic=com.b", "--environment", "sandbox", "--faults", "f.json",
      "--initial-streams", "2", "--max-streams", "50", "--latency", "9", "--exit-with-stdin",
      "--quiet", "--strict", "all", "--lenient=aps", "--token-rate", "5/10",
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
    expected.strictness = [.payloads, .headers, .jwt]
    expected.tokenRate = TokenRate("5/10")
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
    (
      ["--strict", "cards"],
      #"--strict: found "cards", expected one of payloads, headers, aps, jwt, all"#
    ),
    (
      ["--inbox", "example.com:1"],
      #"--inbox: found "example.com:1", expected HOST:PORT such as 127.0.0.1:2199; the host is an "#
        + "IPv4 address"
    ),
    (
      ["--sink", "--inbox", "127.0.0.1:1"],
      #"--inbox: found "127.0.0.1:1", expected no --sink next to it, which reads nothing"#
    ),
    (["--token-rate", "5"], #"--token-rate: found "5", expected PUSHES/SECONDS such as 5/10"#),
  ])
  func `wrong usage is refused`(words: [String], message: String) {
    #expect(throws: UsageError(description: message)) { try Command.parse(words) }
  }

  @Test(arguments: [
    ("127.0.0.1:0", "127.0.0.1:0", true), ("localhost:2199", "127.0.0.1:2199", true),
    ("0.0.0.0:1", "0.0.0.0:1", false), (":1", nil, false), ("1.2.3.4.5:1", nil, false),
    ("127.0.0.1:65536", nil, false), ("127.0.0.1", nil, false),
  ])
  func `an inbox has an address of this machine or of all`(
    text: String, parsed: String?, isLoopback: Bool
  ) throws {
    let endpoint = try? Flag.inbox.endpoint(text)
    #expect(endpoint?.description == parsed && endpoint?.isLoopback ?? false == isLoopback)
    guard let endpoint else { return }
    var expected = Options()
    expected.inbox = endpoint
    #expect(try Command.parse(["--inbox", text]) == .serve(expected))
  }

  @Test(arguments: [("", "abc", 3), ("abc", "abc", 0), ("kitten", "sitting", 3)])
  func `distance counts changed letters`(left: String, right: String, distance: Int) {
    #expect(editDistance(left, right) == distance)
  }
}

/// Runs the built binary as a shell does.
@Suite struct BinaryTests {
  private func run(_ words: String...) throws -> Tool {
    try Tool.run(RunningSimulator.binary.path, words)
  }

  @Test func `help equals the golden text`() throws {
    let tool = try run("--help")
    #expect(tool.status == 0 && tool.errors == "")
    #expect(tool.output == goldenHelp)
  }

  @Test func `an unknown flag is answered with the nearest one`() throws {
    let tool = try run("--fault", "x")
    #expect(tool.status == 64 && tool.output == "")
    let hint = #"unknown "--fault"; the nearest known is --faults; see apns-simulator --help"#
    #expect(tool.errors == "apns-simulator: \(hint)\n")
  }

  @Test func `the ready line contains port and directory`() throws {
    let simulator = try RunningSimulator()
    let details = "https://127.0.0.1:\(simulator.port) state=\(simulator.directory.path)"
    #expect(simulator.readyLine == "apns-simulator: listening on \(details)")
  }

  @Test func `the end of standard input ends the process`() throws {
    let simulator = try RunningSimulator()
    #expect(simulator.stop() == 0)
  }

  @Test func `SIGTERM ends the process with status 0`() throws {
    let simulator = try RunningSimulator()
    #expect(simulator.terminate() == 0)
  }

  @Test func `a port in use is reported in one line`() throws {
    let simulator = try RunningSimulator()
    let tool = try run(
      "--port", String(simulator.port), "--state", simulator.directory.path)
    #expect(tool.status == 1 && tool.output == "")
    let endpoint = "127.0.0.1:\(simulator.port)"
    #expect(tool.errors == "apns-simulator: \(endpoint): listen: Address already in use\n")
  }

  @Test func `a bad faults file is refused at start`() throws {
    let file = try ScratchFile(Data(#"[{"action":{"reset":"BOOM"}}]"#.utf8))
    let directory = FileManager.default.temporaryDirectory.path + "/sim-\(UUID().uuidString)"
    defer { try? FileManager.default.removeItem(atPath: directory) }
    let tool = try run("--port", "0", "--state", directory, "--faults", file.url.path)
    #expect(tool.status == 1 && tool.output == "")
    let path = "\(file.url.path): faults[0].action.reset"
    let error = #"apns-simulator: \#(path): found "BOOM", expected one of NO_ERROR, "#
    #expect(tool.errors.hasPrefix(error))
    #expect(tool.errors.split(separator: "\n").count == 1)
  }
}

/// The exact help text; a change here is a change of the interface.
let goldenHelp = """
  usage: apns-simulator [options]
         apns-simulator push FILE.apns [options]
         apns-simulator replay FILE [options]

  A local Apple Push Notification service for development and tests: HTTP/2 over TLS on
  127.0.0.1. It checks each push, answers as APNs does, and writes what arrived to
  requests.jsonl. It also refuses what APNs accepts and a phone drops; --lenient changes that.
  `push` sends a file to the running simulator, `replay` recorded requests: see their --help.

    --port N              port to listen on, 0 for a free one (default 2197)
    --state DIR           certificates, JWT key, records (default ./.apns-simulator)
    --sink                answer 200 at once; check and record nothing
    --team-id ID          expected iss of JWTs (default SIMTEAM001)
    --key-id ID           expected kid of JWTs (default SIMKEY0001); more in keys.json
    --client-ca FILE      accept client certificates that this CA (PEM) signed
    --topic BUNDLE        known bundle ID, may be repeated
                          (default com.example.customer and com.example.driver)
    --environment NAME    production (default) or sandbox
    --strict NAME         refuse more than APNs does: headers, aps, jwt or all
    --lenient NAME        accept as APNs does: payloads (refused by default), headers, aps, jwt
                          or all
    --token-rate N/S      pushes in S seconds that a token may receive, else TooManyRequests
                          (default any number)
    --channel-limit N     broadcast channels an app may have (default 10000)
    --no-broadcast BUNDLE an app without Broadcast Capability, may be repeated
    --faults FILE         faults as JSON; read again when the file changes
    --initial-streams N   stream limit until the first valid JWT (default 1)
    --max-streams N       stream limit after it (default 1000)
    --latency MS          delay of each answer (default 0)
    --inbox HOST:PORT     a page at http://HOST:PORT/ with each phone and each push, and
                          GET /messages for tests; 127.0.0.1 serves this machine alone
    --exit-with-stdin     exit when standard input ends
    --quiet               log nothing but failures
    --help                print this text

  Files in DIR: ca.pem (clients trust it), AuthKey_<KEYID>.p8 (clients sign with it),
  keys.json (further keys and their scopes, read again when it changes), requests.jsonl (one push
  a line), tokens.json (device tokens, read at start if it is there), channels.json (broadcast
  channels), channels.jsonl (calls about them), broadcasts.jsonl, deliveries.jsonl (pushes to
  devices that were offline).

  Control calls on the same port: GET, POST, DELETE /simulator/faults; GET /simulator/stats;
  POST, DELETE /simulator/tokens; POST /devices/TOKEN/offline, /devices/TOKEN/online.

  """
