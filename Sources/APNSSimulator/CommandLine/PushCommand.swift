import SimulatorKit

/// The parsed command line of `apns-simulator push`.
struct PushOptions: Equatable, Sendable {
  var sender = SenderOptions()
  /// `-` is standard input.
  var file = ""
  var token = String(repeating: "ab", count: 32)
  var topic: String?
  var type: PushType?
  var priority: Int?
  var collapseID: String?
  var expiresSeconds = 3600

  /// Returns nil if help is asked for.
  static func parse(_ words: [String]) throws(UsageError) -> PushOptions? {
    var options = PushOptions()
    let file = try PushFlag.parse(words, withFileOf: "push") {
      (flag, value) throws(UsageError) in try options.set(flag, value)
    }
    guard let file else { return nil }
    options.file = file
    return options
  }

  private mutating func set(_ flag: PushFlag, _ value: String) throws(UsageError) {
    switch flag {
    case .port: sender.port = UInt16(try flag.number(value, in: 1...65_535))
    case .state: sender.stateDirectory = try flag.text(value)
    case .teamID: sender.teamID = try flag.text(value)
    case .keyID: sender.keyID = try flag.text(value)
    case .token: token = try flag.text(value)
    case .topic: topic = try flag.text(value)
    case .type:
      type = try flag.choice(value, of: PushType.allCases.map(\.rawValue), PushType.init(rawValue:))
    case .priority: priority = try flag.number(value, in: 1...10)
    case .collapseID: collapseID = try flag.text(value)
    case .expires: expiresSeconds = try flag.number(value, in: 0...31 * 86_400)
    case .help: break
    }
  }

  /// Sends the file, prints the answer, and returns the exit status.
  func run(at now: WallTime) throws -> Int32 {
    var tokens = ProviderTokenWriter(sender, issuedAt: now.seconds)
    let (push, request) = try File.parseInput(file) { content in
      let authorization = try tokens.authorization()
      let push = try PushFile(content)
      return (push, try push.request(self, authorization: authorization, at: now.seconds))
    }
    let client = try HTTP2Client(port: sender.port, authorityPath: sender.authorityPath)
    let answer = SentAnswer(try client.send(request))
    Log.print(Self.report(answer, Appearance.text(of: push.type(self), push.aps)) + "\n")
    return answer.isAccepted ? 0 : 1
  }

  /// - Parameter shown: what the phone does unless it drops the push.
  static func report(_ answer: SentAnswer, _ shown: String) -> String {
    let status = ["\(answer.status)", answer.reason, answer.id.map { "apns-id \($0)" }]
    let first = status.compactMap(\.self).joined(separator: " ")
    if let dropped = answer.dropped { return "\(first)\nThe phone drops it: \(dropped)." }
    if answer.isAccepted { return "\(first)\n\(shown)" }
    return first + (answer.detail.map { "\n\($0)" } ?? "")
  }
}

enum PushFlag: String, CommandFlag {
  case port = "--port"
  case state = "--state"
  case teamID = "--team-id"
  case keyID = "--key-id"
  case token = "--token"
  case topic = "--topic"
  case type = "--type"
  case priority = "--priority"
  case collapseID = "--collapse-id"
  case expires = "--expires"
  case help = "--help"

  var takesValue: Bool { self != .help }

  static let helpText = """
    usage: apns-simulator push FILE.apns [options]

    Sends a file in the form of Apple's `simctl push` to the running simulator, and prints the
    answer and what the phone shows, or why it drops the push. FILE - is standard input. Exit
    status: 0 accepted, 1 refused or failed, 64 wrong usage.

      --port N          port of the simulator (default 2197)
      --state DIR       its state directory, with CA and key (default ./.apns-simulator)
      --team-id ID      iss of the JWT (default SIMTEAM001)
      --key-id ID       kid of the JWT; AuthKey_<ID>.p8 signs it (default SIMKEY0001)
      --token HEX       device token (default 64 digits, abab…)
      --topic TOPIC     topic (default the file's "Simulator Target Bundle", with the suffix of
                        the type)
      --type NAME       push type (default by topic and keys of aps: alert, background,
                        liveactivity or widgets)
      --priority N      priority (default 5 for background, else 10)
      --collapse-id ID  collapse ID (default none)
      --expires SECONDS how long APNs stores the push, 0 for not at all (default 3600)
      --help            print this text

    """
}
