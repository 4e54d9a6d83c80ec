import SimulatorKit

/// The signing keys of the simulated developer account, with their scopes.
struct KeyRing: Equatable, Sendable {
  private let keys: [String: ProviderKey]

  init(_ keys: [String: ProviderKey]) {
    self.keys = keys
  }

  subscript(id: String) -> ProviderKey? { keys[id] }

  var ids: [String] { keys.keys.sorted() }

  /// Returns whether one connection may use both keys.
  ///
  /// The team-scoped keys of a team belong together; a topic-specific key has at most one related
  /// key.
  func areRelated(_ first: String, _ second: String) -> Bool {
    if first == second { return true }
    guard let one = keys[first], let other = keys[second], one.team == other.team else {
      return false
    }
    if one.topics == nil, other.topics == nil { return true }
    return one.related == second || other.related == first
  }
}

/// A signing key's scope.
struct ProviderKey: Equatable, Sendable {
  var team: String
  var environments = Set(Environment.allCases)
  /// Bundle IDs; nil covers all of the team.
  var topics: Set<String>?
  /// The topic-specific key that may share a connection with this one.
  var related: String?
  var isRevoked = false
}

extension KeyRing {
  private static let members: Set<String> = [
    "team", "environments", "topics", "related", "revoked",
  ]

  /// Parses `{"KEYID": {"team": …, "environments": […], "topics": […], "related": …, "revoked":
  /// true}}`.
  ///
  /// - Parameter builtIn: The key that exists without the file; an entry of its ID replaces it.
  init(text: [UInt8], builtIn: String, team: String) throws(FormatError) {
    let json = try FormatReader.json(text)
    guard let entries = json.object else {
      throw FormatError(found: json.description, expected: "{\"KEYID\": {…}}")
    }
    var keys = [builtIn: ProviderKey(team: team)]
    for (id, entry) in entries.sorted(by: { $0.key < $1.key }) {
      // The ID names a file.
      guard !id.isEmpty, id.utf8.allSatisfy(\.isASCIILetterOrDigit) else {
        throw FormatError(found: "key \"\(id)\"", expected: "a key ID of letters and digits")
      }
      let reader = try FormatReader(entry, at: id, keys: Self.members)
      keys[id] = ProviderKey(
        team: try reader.string("team") ?? team, environments: try Self.environments(reader),
        topics: try reader.strings("topics").map(Set.init),
        related: try reader.string("related"), isRevoked: try reader.flag("revoked"))
    }
    self.init(keys)
  }

  private static func environments(
    _ reader: FormatReader
  ) throws(FormatError) -> Set<Environment> {
    guard let names = try reader.strings("environments") else { return Set(Environment.allCases) }
    let known = names.compactMap { Environment(rawValue: $0) }
    guard known.count == names.count, !known.isEmpty else {
      throw reader.error("environments", "a list of production, sandbox or both")
    }
    return Set(known)
  }
}
