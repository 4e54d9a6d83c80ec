import Base
import RideCore

/// A push that had a fate, as far as two replays are compared by it.
struct SentPush {
  var at: Timestamp
  var rule: String
  /// The token or channel; empty if there was none.
  var address: String
  var status: LedgerEntry.Status
  var reason: String?
  /// The fingerprint of everything that a phone or APNs notices; nil of one that was recorded.
  var digest: UInt64?
  /// The text and the headers that the digest is of.
  var content: [UInt8] = []
  var headers: PushHeaders?
}

/// Compares the pushes of one ride under two sets of rules.
///
/// Equal pushes leave at once, so that only those that differ are kept until the ride is over.
struct RideComparison {
  private var before: [SentPush] = []
  private var after: [SentPush] = []

  /// How much later or earlier a recorded push may have been sent than the replay sends it.
  private static let tolerance: Duration = .seconds(90)

  /// Adds a push of the old rules; those of the new rules follow it at each time.
  mutating func add(before push: SentPush, to changes: inout RehearsalChanges) {
    if let index = after.firstIndex(where: { Self.areEqual(push, $0) }) {
      after.remove(at: index)
      changes.unchanged += 1
    } else {
      before.append(push)
    }
  }

  mutating func add(after push: SentPush, to changes: inout RehearsalChanges, ride: RideID) {
    if let index = before.firstIndex(where: { Self.areEqual($0, push) }) {
      before.remove(at: index)
      changes.unchanged += 1
    } else if push.digest != nil,
      let index = before.firstIndex(where: {
        $0.digest != nil && Self.haveSameTimeRuleAndAddress($0, push)
      })
    {
      Self.record(before.remove(at: index), push, ride, &changes)
    } else {
      after.append(push)
    }
  }

  /// Classifies what is left, once the ride is over.
  mutating func finish(_ changes: inout RehearsalChanges, ride: RideID) {
    for old in before {
      if let index = after.firstIndex(where: { $0.rule == old.rule && $0.address == old.address }) {
        Self.record(old, after.remove(at: index), ride, &changes)
      } else {
        changes.add(.removed, old.rule, Self.example(old, nil, ride))
      }
    }
    for new in after { changes.add(.added, new.rule, Self.example(nil, new, ride)) }
    (before, after) = ([], [])
  }

  private static func haveSameTimeRuleAndAddress(_ one: SentPush, _ other: SentPush) -> Bool {
    one.at == other.at && one.rule == other.rule && one.address == other.address
  }

  private static func areEqual(_ one: SentPush, _ other: SentPush) -> Bool {
    guard one.rule == other.rule, one.address == other.address, one.status == other.status else {
      return false
    }
    if let digest = one.digest, let other = other.digest, digest != other { return false }
    if one.digest != nil, other.digest != nil { return one.at == other.at }
    // A recorded push has no text, and left when the network let it.
    return one.reason == other.reason
      && (one.at < other.at ? other.at - one.at : one.at - other.at) <= tolerance
  }

  private static func record(
    _ old: SentPush, _ new: SentPush, _ ride: RideID, _ changes: inout RehearsalChanges
  ) {
    let kind: RehearsalChanges.Kind =
      if old.at == new.at || old.status != new.status { .changed } else if new.at > old.at {
        .late
      } else { .earlier }
    changes.add(kind, new.rule, example(old, new, ride))
  }

  private static func example(
    _ old: SentPush?, _ new: SentPush?, _ ride: RideID
  ) -> RehearsalChanges.Example {
    let at = new?.at ?? old?.at ?? Timestamp(microseconds: 0)
    guard let old, let new else {
      return RehearsalChanges.Example(
        at: at, ride: ride.text, before: old.map { $0.text }, after: new.map { $0.text })
    }
    let (one, other) = SentPush.difference(old, new)
    let (before, after) = Escape.comparable(one, other)
    return RehearsalChanges.Example(at: at, ride: ride.text, before: before, after: after)
  }
}

extension SentPush {
  /// What an example shows of a push that only one set of rules sends.
  fileprivate var text: String {
    if status != .accepted { return fate }
    return content.isEmpty ? fate : String(decoding: content, as: UTF8.self)
  }

  private var fate: String { status.rawValue + (reason.map { " (\($0))" } ?? "") }

  /// Returns what differs between two pushes: their fates, times, headers or texts.
  fileprivate static func difference(_ old: SentPush, _ new: SentPush) -> (String, String) {
    if old.status != new.status
      || old.reason != new.reason && (old.digest == nil || new.digest == nil)
    {
      return (old.fate, new.fate)
    }
    if old.at != new.at { return (CivilTime.exact(old.at), CivilTime.exact(new.at)) }
    let (headers, others) = (old.headers?.lines ?? "", new.headers?.lines ?? "")
    if headers != others { return (headers, others) }
    return (
      String(decoding: old.content, as: UTF8.self), String(decoding: new.content, as: UTF8.self)
    )
  }
}

extension PushHeaders {
  /// The headers that a phone or APNs notices, without the ID.
  fileprivate var lines: String {
    var parts = ["\(pushType.rawValue) to \(topic)", "priority \(priority.rawValue)"]
    switch expiration {
    case .neverStore: parts.append("not stored")
    case .at(let time): parts.append("expires \(CivilTime.exact(time))")
    }
    if let collapseID, collapseID.text != id.description {
      parts.append("collapse \(collapseID.text)")
    }
    return parts.joined(separator: ", ")
  }

  /// The same as a fingerprint.
  func digest(of payload: [UInt8]) -> UInt64 {
    var hash = StableHash()
    hash.add(payload)
    hash.add(pushType.rawValue)
    hash.add(topic)
    hash.add(UInt64(priority.rawValue))
    hash.add(UInt64(bitPattern: expiration.epochSeconds))
    if let collapseID, collapseID.text != id.description { hash.add(collapseID.text) }
    return hash.value
  }
}
