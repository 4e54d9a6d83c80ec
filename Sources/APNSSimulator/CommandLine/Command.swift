import SimulatorKit

/// The command that the arguments select.
enum Command: Equatable, Sendable {
  case serve(Options)
  case push(PushOptions)
  case replay(ReplayOptions)
  case help(String)

  /// The first words that select something else than the server.
  private static let names = ["push", "replay"]

  static func parse(_ words: [String]) throws(UsageError) -> Command {
    let rest = Array(words.dropFirst())
    switch words.first {
    case "push": return try PushOptions.parse(rest).map(Self.push) ?? .help(PushFlag.helpText)
    case "replay":
      return try ReplayOptions.parse(rest).map(Self.replay) ?? .help(ReplayFlag.helpText)
    default: return try parseServer(words)
    }
  }

  private static func parseServer(_ words: [String]) throws(UsageError) -> Command {
    var options = Options()
    var topics: Set<String> = []
    let serves = try Flag.parse(words, commands: names) { (flag, value) throws(UsageError) in
      if flag == .topic { topics.insert(value) }
      try options.set(flag, value)
    }
    if !topics.isEmpty { options.bundleIDs = topics }
    if options.isSink, let inbox = options.inbox {
      throw Flag.inbox.refusal("\(inbox)", "no --sink next to it, which reads nothing")
    }
    return serves ? .serve(options) : .help(Help.text)
  }
}

/// The parsed command line.
struct Options: Equatable, Sendable {
  var port: UInt16 = 2197
  var stateDirectory = "./.apns-simulator"
  var isSink = false
  var teamID = "SIMTEAM001"
  var keyID = "SIMKEY0001"
  var bundleIDs: Set<String> = ["com.example.customer", "com.example.driver"]
  var environment = Environment.production
  var channelLimit = 10_000
  var appsWithoutBroadcast: Set<String> = []
  var strictness = Strictness.standard
  /// How often a device token may be pushed to; nil for any rate.
  var tokenRate: TokenRate?
  var faultsPath: String?
  /// Where the page with what arrived is served; nil for nowhere.
  var inbox: Endpoint?
  /// The authority of client certificates; nil requests none.
  var clientAuthorityPath: String?
  var initialStreams = 1
  var maximumStreams = 1000
  var latencyMilliseconds = 0
  var isQuiet = false
  var exitsWithStandardInput = false

  var server: ServerSettings {
    ServerSettings(
      port: port, sinkHeader: isSink ? "apns-id" : nil,
      initialStreams: min(initialStreams, maximumStreams),
      latencyMilliseconds: latencyMilliseconds, isQuiet: isQuiet,
      exitsWithStandardInput: exitsWithStandardInput)
  }

  /// The stream limit of a connection that has proved who it is; nil if it is the first one.
  var raisedStreamLimit: Int? { initialStreams < maximumStreams ? maximumStreams : nil }
}

enum Flag: String, CommandFlag {
  case port = "--port"
  case state = "--state"
  case sink = "--sink"
  case teamID = "--team-id"
  case keyID = "--key-id"
  case topic = "--topic"
  case environment = "--environment"
  case channelLimit = "--channel-limit"
  case noBroadcast = "--no-broadcast"
  case clientCA = "--client-ca"
  case strict = "--strict"
  case lenient = "--lenient"
  case tokenRate = "--token-rate"
  case faults = "--faults"
  case inbox = "--inbox"
  case initialStreams = "--initial-streams"
  case maximumStreams = "--max-streams"
  case latency = "--latency"
  case exitWithStdin = "--exit-with-stdin"
  case quiet = "--quiet"
  case help = "--help"

  var takesValue: Bool {
    switch self {
    case .sink, .exitWithStdin, .quiet, .help: false
    default: true
    }
  }
}

extension Options {
  mutating func set(_ flag: Flag, _ value: String) throws(UsageError) {
    switch flag {
    case .port: port = UInt16(try flag.number(value, in: 0...65_535))
    case .state: stateDirectory = try flag.text(value)
    case .sink: isSink = true
    case .teamID: teamID = try flag.text(value)
    case .keyID: keyID = try flag.text(value)
    case .topic: _ = try flag.text(value)
    case .environment:
      guard let known = Environment(rawValue: value) else {
        throw flag.refusal(value, "production or sandbox")
      }
      environment = known
    case .channelLimit: channelLimit = try flag.number(value, in: 0...10_000)
    case .noBroadcast: appsWithoutBroadcast.insert(try flag.text(value))
    case .clientCA: clientAuthorityPath = try flag.text(value)
    case .strict:
      strictness.insert(try flag.choice(value, of: Strictness.names, Strictness.init(name:)))
    case .lenient:
      strictness.subtract(try flag.choice(value, of: Strictness.names, Strictness.init(name:)))
    case .tokenRate:
      guard let rate = TokenRate(value) else {
        throw flag.refusal(value, "PUSHES/SECONDS such as 5/10")
      }
      tokenRate = rate
    case .faults: faultsPath = try flag.text(value)
    case .inbox: inbox = try flag.endpoint(value)
    case .initialStreams: initialStreams = try flag.number(value, in: 1...100_000)
    case .maximumStreams: maximumStreams = try flag.number(value, in: 1...100_000)
    case .latency: latencyMilliseconds = try flag.number(value, in: 0...3_600_000)
    case .exitWithStdin: exitsWithStandardInput = true
    case .quiet: isQuiet = true
    case .help: break
    }
  }
}
