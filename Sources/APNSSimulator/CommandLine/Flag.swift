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
    case .faults: faultsPath = try text(flag, value)
    case .initialStreams: initialStreams = try number(flag, value, in: 1...100_000)
    case .maximumStreams: maximumStreams = try number(flag, value, in: 1...100_000)
    case .latency: latencyMilliseconds = try number(flag, value, in: 0...3_600_000)
    case .exitWithStdin: exitsWithStandardInput = true
    case .quiet: isQuiet = true
    case .help: break
    }
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
