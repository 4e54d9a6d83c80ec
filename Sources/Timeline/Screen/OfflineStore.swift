import Base
import RideCore

/// What APNs or FCM keeps for a phone that it can't reach.
///
/// APNs keeps one push, mostly the newest; here it is always the newest. Apple counts by bundle ID and
/// does not say whether an app's cards, which have tokens of their own, count with its alerts: here
/// they do not.
struct OfflineStore: Hashable, Sendable {
  private struct Kept: Hashable {
    var push: ScreenPush
    /// From then on it is no longer delivered.
    var end: Timestamp
  }

  /// Of pushes with `ScreenPush.Storage.fcm`: without a collapse key, and different keys.
  private static let messageLimit = 100
  private static let keyLimit = 4

  /// In the order in which they were accepted.
  private var kept: [Kept] = []
  /// Whether FCM deleted the messages that it stored: it reports that when the phone is back.
  private(set) var wasWiped = false

  /// What waits, the oldest first.
  var pushes: [ScreenPush] { kept.map(\.push) }

  /// Accepts a push for a phone that is off; returns what is decided by that.
  mutating func keep(_ push: ScreenPush, at now: Timestamp) -> [(ScreenPush, PushFate)] {
    let end: Timestamp
    switch push.storage {
    case .apns(.neverStore), .broadcast(.neverStore, _), .broadcast(_, .nothing), .fcm(...0, _):
      return [(push, .notStored)]
    case .apns(.at(let last)): end = Self.end(of: last)
    case .broadcast(.at(let last), .latest):
      end = min(Self.end(of: last), now + ChannelStorage.longest)
    case .fcm(let ttl, _): end = now + .seconds(ttl)
    }
    if end <= now { return [(push, .expired)] }
    let decided = makeRoom(for: push)
    if decided.contains(where: { $0.0 == push }) { return decided }
    kept.append(Kept(push: push, end: end))
    return decided
  }

  /// Returns the first instant after an expiration, which is in whole seconds.
  private static func end(of expiration: Timestamp) -> Timestamp {
    Timestamp(epochSeconds: expiration.epochSeconds) + .seconds(1)
  }

  private mutating func makeRoom(for push: ScreenPush) -> [(ScreenPush, PushFate)] {
    guard case .fcm(_, let key) = push.storage else {
      return remove(where: { $0.address == push.address }, .replaced(by: push.id))
    }
    guard let key else {
      let count = kept.count { $0.push.collapseKey == nil }
      guard count == Self.messageLimit else { return [] }
      wasWiped = true
      return remove(where: { _ in true }, .wiped) + [(push, .wiped)]
    }
    var leaving = key
    let keys = Set(kept.compactMap(\.push.collapseKey))
    // Google does not document which key is thrown out for a fifth: here it is the oldest.
    if !keys.contains(key), keys.count == Self.keyLimit,
      let oldest = kept.lazy.compactMap(\.push.collapseKey).first
    {
      leaving = oldest
    }
    return remove(where: { $0.collapseKey == leaving }, .replaced(by: push.id))
  }

  private mutating func remove(
    where isLeaving: (ScreenPush) -> Bool, _ fate: PushFate
  ) -> [(ScreenPush, PushFate)] {
    let leaving = kept.filter { isLeaving($0.push) }
    kept.removeAll { isLeaving($0.push) }
    return leaving.map { ($0.push, fate) }
  }

  /// Removes what is no longer delivered; returns it with the time when it ended.
  mutating func expire(at now: Timestamp) -> [(push: ScreenPush, at: Timestamp)] {
    let ended = kept.filter { $0.end <= now }
    kept.removeAll { $0.end <= now }
    return ended.map { ($0.push, $0.end) }
  }

  /// Empties the store for a phone that is back; FCM promises no order, here it is that of acceptance.
  mutating func takeAll() -> [ScreenPush] {
    defer { self = OfflineStore() }
    return pushes
  }
}

extension ScreenPush {
  fileprivate var collapseKey: String? {
    if case .fcm(_, let key) = storage { key } else { nil }
  }
}
