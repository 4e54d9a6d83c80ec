import SimulatorKit

/// An accepted message, as far as its delivery depends on it.
struct StoredMessage: Equatable {
  let name: String
  let acceptedAt: WallTime
  /// Seconds; zero means now or never.
  let ttl: Int
  let isHigh: Bool
  let collapseKey: String?
  /// Whether a person sees it without the app's doing.
  let showsNotification: Bool
  let content: [String: JSON]
  /// Its number in the inbox; 0 if it is not shown there.
  var number = 0

  func isExpired(at time: WallTime) -> Bool {
    time.total >= acceptedAt.total + ttl * 1_000_000
  }
}

/// The outcome of a message; one line of `deliveries.jsonl`.
struct Delivery: Equatable {
  enum Outcome: String {
    case delivered, expired, collapsed, discarded
    /// More than a phone may store: all of it is thrown away, and the app is told.
    case wiped = "deleted_messages"
  }

  let message: StoredMessage
  let outcome: Outcome
  let at: WallTime
  /// The priority that the phone gave it.
  var isHigh: Bool

  func json(registration: String, isDuplicate: Bool = false) -> JSON {
    var members = message.content
    members["registration"] = .string(registration)
    members["name"] = .string(message.name)
    members["outcome"] = .string(outcome.rawValue)
    members["priority"] = .string(isHigh ? "HIGH" : "NORMAL")
    if isDuplicate { members["duplicate"] = .bool(true) }
    members["accepted_at"] = .number(message.acceptedAt.fractionalSeconds)
    members["at"] = .number(at.fractionalSeconds)
    return .object(members)
  }
}

/// A phone with one app, and what FCM stores for it.
struct Phone {
  enum State: String, CaseIterable {
    case awake, doze, offline, uninstalled
    /// The app was stopped by its user or the maker's battery saver: nothing reaches it.
    case restricted
  }

  private static let largestStore = 100
  private static let largestCollapseKeys = 4
  /// High messages that show nothing, after which they are no longer high.
  private static let silentHighLimit = 5

  private(set) var state: State
  private var stored: [StoredMessage] = []
  private var silentHigh = 0

  init(state: State = .awake) {
    self.state = state
  }

  /// - Parameter demotes: Whether what wakes the phone too often without showing anything is lowered.
  mutating func accept(
    _ message: StoredMessage, demotes: Bool = true, at time: WallTime
  ) -> [Delivery] {
    let isHigh = demotes ? effectivePriority(of: message) : message.isHigh
    switch state {
    case .awake: return [Delivery(message: message, outcome: .delivered, at: time, isHigh: isHigh)]
    case .doze where isHigh:
      return [Delivery(message: message, outcome: .delivered, at: time, isHigh: true)]
    case .restricted, .uninstalled:
      return [Delivery(message: message, outcome: .discarded, at: time, isHigh: isHigh)]
    case .doze, .offline: return store(message, at: time, isHigh: isHigh)
    }
  }

  /// Google lowers what wakes a phone again and again without showing anything.
  private mutating func effectivePriority(of message: StoredMessage) -> Bool {
    guard message.isHigh else { return false }
    if !message.showsNotification { silentHigh += 1 }
    return message.showsNotification || silentHigh <= Self.silentHighLimit
  }

  private mutating func store(
    _ message: StoredMessage, at time: WallTime, isHigh: Bool
  ) -> [Delivery] {
    if message.ttl == 0 {
      return [Delivery(message: message, outcome: .discarded, at: time, isHigh: isHigh)]
    }
    // What has expired takes no room.
    var dropped = stored.filter { $0.isExpired(at: time) }.map {
      Delivery(message: $0, outcome: .expired, at: time, isHigh: $0.isHigh)
    }
    stored.removeAll { $0.isExpired(at: time) }
    if let key = message.collapseKey {
      let keys = Set(stored.compactMap(\.collapseKey))
      // Which one of the keys is thrown out is not documented; here it is the oldest.
      let isFull = !keys.contains(key) && keys.count == Self.largestCollapseKeys
      let victim = isFull ? stored.first { $0.collapseKey != nil }?.collapseKey : key
      for old in stored where old.collapseKey == victim {
        dropped.append(Delivery(message: old, outcome: .collapsed, at: time, isHigh: old.isHigh))
      }
      stored.removeAll { $0.collapseKey == victim }
    } else if stored.count(where: { $0.collapseKey == nil }) == Self.largestStore {
      dropped += (stored + [message]).map {
        Delivery(message: $0, outcome: .wiped, at: time, isHigh: $0.isHigh)
      }
      stored.removeAll()
      return dropped
    }
    stored.append(message)
    return dropped
  }

  /// Changes the state; a phone that can be reached gets what was stored, in no certain order.
  mutating func become(
    _ state: State, at time: WallTime, using generator: inout SeededGenerator
  ) -> [Delivery] {
    self.state = state
    let reached: [StoredMessage]
    switch state {
    case .awake: reached = stored
    case .doze: reached = stored.filter(\.isHigh)
    case .offline, .uninstalled, .restricted: return []
    }
    stored.removeAll { message in reached.contains { $0.name == message.name } }
    return reached.shuffled(using: &generator).map { message in
      Delivery(
        message: message, outcome: message.isExpired(at: time) ? .expired : .delivered, at: time,
        isHigh: message.isHigh)
    }
  }
}

/// SplitMix64, so that a run can be repeated.
struct SeededGenerator: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) {
    state = seed
  }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}
