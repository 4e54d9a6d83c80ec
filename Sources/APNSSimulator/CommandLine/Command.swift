import SimulatorKit

/// The command that the arguments select.
enum Command: Equatable, Sendable {
  case serve(Options)
  case help

  struct UsageError: Error, Equatable, CustomStringConvertible {
    let description: String
  }

  static func parse(_ words: [String]) throws(UsageError) -> Command {
    var options = Options()
    var topics: Set<String> = []
    var rest = words[...]
    while let word = rest.popFirst() {
      let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      guard let flag = Flag(rawValue: String(parts[0])) else { throw unknown(word) }
      var value = parts.count == 2 ? String(parts[1]) : nil
      if flag.takesValue, value == nil { value = rest.popFirst() }
      guard flag.takesValue == (value != nil) else {
        throw UsageError(
          description: flag.takesValue ? "\(flag.rawValue) needs a value" : "\(word): no value")
      }
      if flag == .help { return .help }
      if flag == .topic, let value { topics.insert(value) }
      try options.set(flag, value ?? "")
    }
    if !topics.isEmpty { options.bundleIDs = topics }
    return .serve(options)
  }

  private static func unknown(_ word: String) -> UsageError {
    let nearest = Flag.allCases.map(\.rawValue).min { distance($0, word) < distance($1, word) }
    let hint = nearest.map { "; the nearest known is \($0)" } ?? ""
    return UsageError(description: "unknown \"\(word)\"\(hint)")
  }

  /// Returns the Levenshtein distance: how many letters must change to turn one word into the
  /// other.
  static func distance(_ left: String, _ right: String) -> Int {
    var row = Array(0...right.count)
    for (i, a) in left.enumerated() {
      var diagonal = row[0]
      row[0] = i + 1
      for (j, b) in right.enumerated() {
        let cost = min(diagonal + (a == b ? 0 : 1), row[j] + 1, row[j + 1] + 1)
        diagonal = row[j + 1]
        row[j + 1] = cost
      }
    }
    return row[right.count]
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

enum Flag: String, CaseIterable, Sendable {
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
  mutating func set(_ flag: Flag, _ value: String) throws(Command.UsageError) {
    switch flag {
    case .port: port = UInt16(try number(flag, value, in: 0...65_535))
    case .state: stateDirectory = try text(flag, value)
    case .sink: isSink = true
    case .teamID: teamID = try text(flag, value)
    case .keyID: keyID = try text(flag, value)
    case .topic: _ = try text(flag, value)
    case .environment:
      guard let known = Environment(rawValue: value) else {
        throw refusal(flag, value, "production or sandbox")
      }
      environment = known
    case .channelLimit: channelLimit = try number(flag, value, in: 0...10_000)
    case .noBroadcast: appsWithoutBroadcast.insert(try text(flag, value))
    case .clientCA: clientAuthorityPath = try text(flag, value)
    case .strict: strictness.insert(try strictness(flag, value))
    case .lenient: strictness.subtract(try strictness(flag, value))
    case .tokenRate:
      guard let rate = TokenRate(value) else {
        throw refusal(flag, value, "PUSHES/SECONDS such as 5/10")
      }
      tokenRate = rate
    case .faults: faultsPath = try text(flag, value)
    case .initialStreams: initialStreams = try number(flag, value, in: 1...100_000)
    case .maximumStreams: maximumStreams = try number(flag, value, in: 1...100_000)
    case .latency: latencyMilliseconds = try number(flag, value, in: 0...3_600_000)
    case .exitWithStdin: exitsWithStandardInput = true
    case .quiet: isQuiet = true
    case .help: break
    }
  }

  private func strictness(
    _ flag: Flag, _ value: String
  ) throws(Command.UsageError) -> Strictness {
    guard let part = Strictness(name: value) else {
      throw refusal(flag, value, "one of " + Strictness.names.joined(separator: ", "))
    }
    return part
  }

  private func text(_ flag: Flag, _ value: String) throws(Command.UsageError) -> String {
    if value.isEmpty { throw refusal(flag, value, "a word") }
    return value
  }

  private func number(
    _ flag: Flag, _ value: String, in range: ClosedRange<Int>
  ) throws(Command.UsageError) -> Int {
    guard let number = Int(value), range.contains(number) else {
      throw refusal(flag, value, "a number from \(range.lowerBound) to \(range.upperBound)")
    }
    return number
  }

  private func refusal(_ flag: Flag, _ value: String, _ expected: String) -> Command.UsageError {
    Command.UsageError(
      description: "\(flag.rawValue): found \"\(value)\", expected \(expected)")
  }
}
