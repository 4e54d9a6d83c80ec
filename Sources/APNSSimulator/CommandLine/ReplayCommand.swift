import SimulatorKit

/// The parsed command line of `apns-simulator replay`.
struct ReplayOptions: Equatable, Sendable {
  var sender = SenderOptions()
  /// `-` is standard input.
  var file = ""
  /// How many times faster than recorded; nil sends each request once the one before is answered.
  var speed: Int?

  /// Returns nil if help is asked for.
  static func parse(_ words: [String]) throws(UsageError) -> ReplayOptions? {
    var options = ReplayOptions()
    let file = try ReplayFlag.parse(words, withFileOf: "replay") {
      (flag, value) throws(UsageError) in try options.set(flag, value)
    }
    guard let file else { return nil }
    options.file = file
    return options
  }

  private mutating func set(_ flag: ReplayFlag, _ value: String) throws(UsageError) {
    switch flag {
    case .port: sender.port = UInt16(try flag.number(value, in: 1...65_535))
    case .state: sender.stateDirectory = try flag.text(value)
    case .teamID: sender.teamID = try flag.text(value)
    case .keyID: sender.keyID = try flag.text(value)
    case .speed: speed = try flag.number(value, in: 1...1_000_000)
    case .help: break
    }
  }

  /// Replays the file, prints the differences, and returns the exit status.
  func run() throws -> Int32 {
    let records = try File.parseInput(file, RecordedRequest.read)
    var replay = Replay(self)
    try replay.run(records) { Log.print($0 + "\n") }
    Log.print(replay.summary.text + "\n")
    return replay.summary.different == 0 ? 0 : 1
  }
}

enum ReplayFlag: String, CommandFlag {
  case port = "--port"
  case state = "--state"
  case teamID = "--team-id"
  case keyID = "--key-id"
  case speed = "--speed"
  case help = "--help"

  var takesValue: Bool { self != .help }

  static let helpText = """
    usage: apns-simulator replay FILE [options]

    Sends the requests of a record file again, in their order, to the running simulator, with new
    JWTs, and prints the answers that differ from the recorded ones. FILE is requests.jsonl,
    channels.jsonl or broadcasts.jsonl of any state directory; - is standard input. Exit status: 0
    all answers equal, 1 some differ or it failed, 64 wrong usage.

      --port N          port of the simulator (default 2197)
      --state DIR       its state directory, with CA and keys (default ./.apns-simulator)
      --team-id ID      iss of JWTs whose recorded key is not in DIR (default SIMTEAM001)
      --key-id ID       their kid; AuthKey_<ID>.p8 signs them (default SIMKEY0001)
      --speed N         keep the recorded pace, N times faster (default as fast as answered)
      --help            print this text

    """
}
