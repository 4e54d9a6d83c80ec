import SimulatorKit

/// The command that the arguments select.
enum Command: Equatable, Sendable {
  case serve(Options)
  case help

  static func parse(_ words: [String]) throws(UsageError) -> Command {
    var options = Options()
    var projects: [String] = []
    let serves = try Flag.parse(words) { (flag, value) throws(UsageError) in
      if flag == .project { projects.append(try flag.text(value)) }
      try options.set(flag, value)
    }
    if !projects.isEmpty { options.projects = projects }
    return serves ? .serve(options) : .help
  }
}

/// The parsed command line.
struct Options: Equatable, Sendable {
  var port: UInt16 = 2198
  var stateDirectory = "./.fcm-simulator"
  var projects = ["rides"]
  var strictness = Strictness.standard
  /// How often a registration may be sent to; nil for any rate.
  var deviceRate: TokenRate?
  /// How often a project may send; nil for any rate.
  var quota: TokenRate?
  var tokenLifeSeconds = 3599
  /// How many of the delivered messages arrive twice; nil for none.
  var duplicates: Share?
  /// Decides in which order a phone gets what was stored.
  var seed: UInt64 = 1
  var faultsPath: String?
  /// Where the page with what arrived is served; nil for nowhere.
  var inbox: Endpoint?
  var maximumStreams = 100
  var latencyMilliseconds = 0
  var isQuiet = false
  var exitsWithStandardInput = false

  var server: ServerSettings {
    ServerSettings(
      port: port, sinkHeader: nil, initialStreams: maximumStreams,
      latencyMilliseconds: latencyMilliseconds, isQuiet: isQuiet,
      exitsWithStandardInput: exitsWithStandardInput, refusesIdlePings: true)
  }
}

enum Flag: String, CommandFlag {
  case port = "--port"
  case state = "--state"
  case project = "--project"
  case strict = "--strict"
  case lenient = "--lenient"
  case deviceRate = "--device-rate"
  case quota = "--quota"
  case tokenLife = "--token-life"
  case duplicate = "--duplicate"
  case seed = "--seed"
  case faults = "--faults"
  case inbox = "--inbox"
  case maximumStreams = "--max-streams"
  case latency = "--latency"
  case exitWithStdin = "--exit-with-stdin"
  case quiet = "--quiet"
  case help = "--help"

  var takesValue: Bool {
    switch self {
    case .exitWithStdin, .quiet, .help: false
    default: true
    }
  }
}

extension Options {
  mutating func set(_ flag: Flag, _ value: String) throws(UsageError) {
    switch flag {
    case .port: port = UInt16(try flag.number(value, in: 0...65_535))
    case .state: stateDirectory = try flag.text(value)
    case .strict:
      strictness.insert(try flag.choice(value, of: Strictness.names, Strictness.init(name:)))
    case .lenient:
      strictness.subtract(try flag.choice(value, of: Strictness.names, Strictness.init(name:)))
    case .deviceRate: deviceRate = try rate(flag, value)
    case .quota: quota = try rate(flag, value)
    case .tokenLife: tokenLifeSeconds = try flag.number(value, in: 1...86_400)
    case .duplicate:
      guard let share = Share(value) else {
        throw flag.refusal(value, "MESSAGES/MESSAGES such as 1/50")
      }
      duplicates = share
    case .seed: seed = UInt64(try flag.number(value, in: 0...Int.max))
    case .faults: faultsPath = try flag.text(value)
    case .inbox: inbox = try flag.endpoint(value)
    case .maximumStreams: maximumStreams = try flag.number(value, in: 1...100_000)
    case .latency: latencyMilliseconds = try flag.number(value, in: 0...3_600_000)
    case .exitWithStdin: exitsWithStandardInput = true
    case .quiet: isQuiet = true
    case .project, .help: break
    }
  }

  private func rate(_ flag: Flag, _ value: String) throws(UsageError) -> TokenRate {
    guard let rate = TokenRate(value) else {
      throw flag.refusal(value, "MESSAGES/SECONDS such as 240/60")
    }
    return rate
  }
}
