import SimulatorKit

/// The messages that a registration was sent before under the same `rp_id`.
///
/// FCM has no ID of its own for a message that is sent again; the app drops it by RidePulse's.
struct RepeatHistory {
  enum Repeat: String {
    case same
    /// Something other than `ttl` has changed, so what the app drops is not what it has.
    case different
  }

  private struct Key: Hashable {
    let registration: String
    let id: String
  }

  /// Beyond it, the older half is forgotten.
  private static let limit = 50_000

  private var recent: [Key: Int] = [:]
  private var older: [Key: Int] = [:]

  /// Returns nil for the first message, and for one without an ID.
  mutating func note(_ message: Message, to registration: String) -> Repeat? {
    guard let id = message.data["rp_id"] else { return nil }
    let key = Key(registration: registration, id: id)
    let hash = message.contentHash
    if let known = recent[key] ?? older[key] { return known == hash ? .same : .different }
    if recent.count == Self.limit {
      older = recent
      recent = [:]
    }
    recent[key] = hash
    return nil
  }
}

extension Message {
  /// The hash of all that a repeat must have in common.
  fileprivate var contentHash: Int {
    var members = members
    var android = members["android"]?.object
    android?["ttl"] = nil
    members["android"] = android.map { .object($0) }
    return JSON.object(members).serialized.hashValue
  }
}
