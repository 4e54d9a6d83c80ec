import SimulatorKit

/// The app and the operation that a path of the channel and broadcast APIs names.
struct ChannelCall: Equatable, Sendable {
  enum Kind: String, CaseIterable, Sendable {
    case create, read, delete, list, broadcast
  }

  private enum Resource {
    case channels, all, broadcasts
  }

  let bundleID: String
  /// Nil if the path does not support the request's method.
  let kind: Kind?

  /// Returns whether a path belongs to these APIs, well formed or not.
  static func owns(_ path: String) -> Bool {
    path.hasPrefix("/1/") || path.hasPrefix("/4/")
  }

  /// Returns nil for a path that is not in Apple's documentation.
  init?(_ request: Request) {
    let parts = request.path.split(separator: "/", omittingEmptySubsequences: false).map(
      String.init)
    let resource: Resource
    switch parts.count {
    case 5 where parts[1...2] == ["1", "apps"] && parts[4] == "channels": resource = .channels
    case 5 where parts[1...2] == ["1", "apps"] && parts[4] == "all-channels": resource = .all
    case 5 where parts[1...3] == ["4", "broadcasts", "apps"]: resource = .broadcasts
    default: return nil
    }
    bundleID = resource == .broadcasts ? parts[4] : parts[3]
    if bundleID.isEmpty { return nil }
    kind =
      switch (resource, request.method) {
      case (.channels, "POST"): .create
      case (.channels, "GET"): .read
      case (.channels, "DELETE"): .delete
      case (.all, "GET"): .list
      case (.broadcasts, "POST"): .broadcast
      default: nil
      }
  }
}

extension Push {
  /// The size limit of a broadcast's payload; among pushes to one device only VoIP allows as much.
  static let maximumBroadcastBytes = 5120

  var call: ChannelCall? { ChannelCall(request) }

  var channelID: String? { header("apns-channel-id") }
}

/// The channels of all apps; IDs are random and never reused.
struct ChannelRegistry: Equatable, Sendable {
  private struct Entry: Equatable {
    var policy: Int
    var isDeleted = false
  }

  /// Keyed by bundle ID and channel ID.
  private var entries: [String: [String: Entry]] = [:]
  private var counts: [String: Int] = [:]

  /// Returns how many channels an app has.
  func count(of app: String) -> Int { counts[app] ?? 0 }

  /// Returns the storage policy of a channel, or nil if it does not exist.
  func policy(of id: String, app: String) -> Int? {
    guard let entry = entries[app]?[id], !entry.isDeleted else { return nil }
    return entry.policy
  }

  func wasDeleted(_ id: String, app: String) -> Bool {
    entries[app]?[id]?.isDeleted ?? false
  }

  /// Returns the IDs of an app's channels, in an arbitrary order.
  func ids(of app: String) -> [String] {
    (entries[app] ?? [:]).filter { !$0.value.isDeleted }.keys.sorted()
  }

  mutating func create(policy: Int, app: String) -> String {
    var id = Self.randomID()
    while entries[app]?[id] != nil { id = Self.randomID() }
    entries[app, default: [:]][id] = Entry(policy: policy)
    counts[app, default: 0] += 1
    return id
  }

  mutating func delete(_ id: String, app: String) {
    guard policy(of: id, app: app) != nil else { return }
    entries[app]?[id]?.isDeleted = true
    counts[app, default: 0] -= 1
  }

  /// Returns 16 random bytes as base64: 24 characters.
  private static func randomID() -> String {
    let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
    var bits = UInt128.random(in: 0...UInt128.max)
    var text = ""
    for _ in 0..<21 {
      text.append(alphabet[Int(bits & 63)])
      bits >>= 6
    }
    // Two bits are left; four zero bits fill the last character.
    text.append(alphabet[Int(bits & 3) << 4])
    return text + "=="
  }
}

extension ChannelRegistry {
  /// Parses `{"com.example.customer": {"<ID>": {"policy": 1, "deleted": false}}}`, as written by
  /// `json`.
  init(text: [UInt8]) throws(FormatError) {
    let json = try FormatReader.json(text)
    for (app, channels) in json.object ?? [:] {
      for (id, entry) in channels.object ?? [:] {
        let path = "\(app).\(id)"
        let reader = try FormatReader(entry, at: path, keys: ["policy", "deleted"])
        guard let policy = try reader.integer("policy", in: 0...1) else {
          throw reader.error("policy", "0 or 1")
        }
        let isDeleted = reader.members["deleted"] == .bool(true)
        entries[app, default: [:]][id] = Entry(policy: policy, isDeleted: isDeleted)
        if !isDeleted { counts[app, default: 0] += 1 }
      }
    }
  }

  var json: JSON {
    .object(
      entries.mapValues { channels in
        .object(
          channels.mapValues { entry in
            .object(["policy": .integer(entry.policy), "deleted": .bool(entry.isDeleted)])
          })
      })
  }
}
