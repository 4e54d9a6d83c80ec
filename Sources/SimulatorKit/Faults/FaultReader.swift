/// Parses faults from JSON; an error contains the path, the value found and the form expected.
package struct FaultReader: Sendable {
  /// The properties of a request that a match may name, next to those of all services.
  private let keys: Set<String>
  /// The values of `call`.
  private let calls: [String]
  /// Whether tokens are the same in capitals.
  private let foldsTokens: Bool
  /// The keys of an answer, next to those of all services.
  private let answerKeys: Set<String>

  package init(
    keys: Set<String>, calls: [String], foldsTokens: Bool, answerKeys: Set<String> = []
  ) {
    self.keys = keys
    self.calls = calls
    self.foldsTokens = foldsTokens
    self.answerKeys = answerKeys
  }

  /// Parses a list of faults, or `{"faults": [list]}`.
  package func read(_ json: JSON) throws(FormatError) -> [Fault] {
    guard let list = json.array ?? json.object?["faults"]?.array else {
      throw FormatError(found: json.description, expected: "a list of faults")
    }
    var faults: [Fault] = []
    for (index, entry) in list.enumerated() {
      faults.append(try fault(entry, at: "faults[\(index)]"))
    }
    return faults
  }

  package func read(file path: String) throws -> [Fault] {
    try File.parse(File.read(path), of: path, read(text:))
  }

  package func read(text: [UInt8]) throws(FormatError) -> [Fault] {
    try read(FormatReader.json(text))
  }

  private func fault(_ json: JSON, at path: String) throws(FormatError) -> Fault {
    let reader = try FormatReader(json, at: path, keys: ["match", "action", "times"])
    guard let action = reader.members["action"] else { throw reader.error("action", "an action") }
    let (delay, act) = try self.action(action, at: path + ".action")
    let match = try match(reader.members["match"] ?? .object([:]), at: path + ".match")
    let fault = Fault(
      match: match, delayMilliseconds: delay, action: act,
      times: try reader.integer("times", in: 1...Int.max), definition: json)
    if fault.isOfConnection, !match.values.isEmpty || match.tokenPrefix != nil || delay > 0 {
      throw FormatError(
        path: path, found: "no_settings next to what a request has",
        expected: "connection, every and first: the fault strikes before any request")
    }
    return fault
  }

  private func match(_ json: JSON, at path: String) throws(FormatError) -> FaultMatch {
    let common: Set = ["token", "token_prefix", "connection", "call", "every", "first"]
    let reader = try FormatReader(json, at: path, keys: common.union(keys))
    var match = FaultMatch(
      tokenPrefix: try reader.string("token_prefix").map(token),
      connection: try reader.integer("connection", in: 1...Int.max),
      every: try reader.integer("every", in: 1...Int.max),
      first: try reader.integer("first", in: 1...Int.max))
    for key in keys.union(["token", "call"]) {
      match.values[key] = try reader.string(key).map { key == "token" ? token($0) : $0 }
    }
    guard match.values["call"].map(calls.contains) ?? true else {
      throw reader.error("call", "one of " + calls.joined(separator: ", "))
    }
    return match
  }

  private func token(_ text: String) -> String { foldsTokens ? text.lowercased() : text }

  private static let actions = Set(FaultWord.allCases.filter { $0 != .delay }.map(\.rawValue))

  private func action(
    _ json: JSON, at path: String
  ) throws(FormatError) -> (delay: Int, FaultAction) {
    let reader = try FormatReader(json, at: path, keys: Self.actions.union(["delay_ms"]))
    let delay = try reader.integer("delay_ms", in: 0...3_600_000)
    let named = reader.members.keys.filter { $0 != "delay_ms" }.sorted()
    guard named.count < 2 else {
      throw FormatError(
        path: path, found: named.joined(separator: " and "), expected: "one action")
    }
    if let word = named.first.flatMap(FaultWord.init) {
      return (delay ?? 0, try action(word, reader))
    }
    guard let delay else {
      throw FormatError(path: path, found: json.description, expected: "an action")
    }
    return (delay, .proceed)
  }

  private func action(
    _ word: FaultWord, _ reader: FormatReader
  ) throws(FormatError) -> FaultAction {
    let name = word.rawValue
    func flag(_ action: FaultAction) throws(FormatError) -> FaultAction {
      _ = try reader.flag(name)
      return action
    }
    switch word {
    case .delay: return .proceed
    case .answer: return .answer(try answer(reader.members[name] ?? .null, at: reader.path))
    case .reset:
      guard let code = ErrorCode(name: try reader.requiredString(name)) else {
        throw reader.error(name, "one of " + ErrorCode.allCases.map(\.name).joined(separator: ", "))
      }
      return .reset(code)
    case .goAway: return try Self.goAway(reader.members[name] ?? .null, at: reader.path)
    case .maximumStreams:
      return .maximumStreams(try reader.integer(name, in: 0...100_000) ?? 0)
    case .stall: return try flag(.stall)
    case .close: return try flag(.close)
    case .twoStepGoAway: return try flag(.twoStepGoAway)
    case .halfBody: return try flag(.halfBody)
    case .blackHole: return try flag(.blackHole)
    case .noSettings: return try flag(.noSettings)
    }
  }

  private func answer(_ json: JSON, at path: String) throws(FormatError) -> FaultAnswer {
    let keys: Set = ["status", "reason", "timestamp", "retry_after", "body"]
    let reader = try FormatReader(json, at: path + ".answer", keys: keys.union(answerKeys))
    guard let status = try reader.integer("status", in: 200...599) else {
      throw reader.error("status", "an integer from 200 to 599")
    }
    return FaultAnswer(
      status: status, reason: try reader.string("reason"),
      timestamp: try reader.integer("timestamp"),
      retryAfterSeconds: try reader.integer("retry_after"),
      isRetryAfterDate: try reader.flag("retry_after_date"),
      isAccepted: try reader.flag("accepted"), body: try reader.string("body"))
  }

  private static func goAway(_ json: JSON, at path: String) throws(FormatError) -> FaultAction {
    let reader = try FormatReader(json, at: path + ".goaway", keys: ["last_stream", "reason"])
    let reason = try reader.string("reason") ?? "Shutdown"
    switch reader.members["last_stream"] {
    case .none, .string("this"): return .goAway(.this, reason: reason)
    case .string("previous"): return .goAway(.previous, reason: reason)
    case .integer(let number) where (0...Int(Int32.max)).contains(number):
      return .goAway(.number(number), reason: reason)
    default: throw reader.error("last_stream", "\"this\", \"previous\" or a stream number")
    }
  }
}
