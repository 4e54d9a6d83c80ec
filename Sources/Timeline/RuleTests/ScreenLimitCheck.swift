import Base
import RideCore

/// Compares what one phone has shown with what must never be.
struct ScreenLimitCheck {
  /// How a phone breaks a limit.
  struct Violation {
    /// When it is first broken; nil if that is not known.
    var at: Timestamp?
    var text: String
  }

  /// What adds up over a ride.
  struct Counts: Hashable {
    var rings = 0
    var timeSensitive = 0
  }

  /// The phone at the end.
  var screen: Screen
  /// Everything that was sent to it, whether or not it could be reached.
  var sent: [(at: Timestamp, push: ScreenPush)]
  /// The rules whose alerts are time-sensitive.
  var sensitiveRules: Set<String>
  /// Returns the zone of the ride as it is then; without a ride, that of the phone.
  var zone: (Timestamp) -> ZoneTimes
  /// Writes a time.
  var time: (Timestamp) -> String
  /// Of the ride before what is checked.
  var earlier = Counts()

  /// With the earlier ones.
  var counts: Counts {
    Counts(
      rings: earlier.rings + rings.count,
      timeSensitive: earlier.timeSensitive + timeSensitive.count)
  }

  /// Returns how the phone breaks a limit; nil if it does not.
  func violation(of limit: ScreenLimit.Kind) -> Violation? {
    switch limit {
    case .ringsBetween(let from, let to):
      let hours = QuietHours(from: from, to: to, zone: .ride, then: .drop)
      return rings.first { hours.end(at: $0.at, in: zone($0.at)) != nil }
        .map { ring in
          Violation(
            at: ring.at,
            text: "rang at \(CivilTime.local(ring.at, zone(ring.at))), by \(ring.push.rule)")
        }
    case .ringsPerRide(let most):
      return violation(most, "rang too often", rings, after: earlier.rings)
    case .timeSensitivePerRide(let most):
      return violation(
        most, "received too many time-sensitive alerts", timeSensitive,
        after: earlier.timeSensitive)
    case .staleCardFor(let duration):
      let stale = screen.longestStale
      guard stale > duration else { return nil }
      return Violation(
        text: "showed a stale card for \(stale.rideText), at most \(duration.rideText)")
    case .lostBehind(let type): return loss(behind: type)
    }
  }

  private func violation(
    _ most: Int, _ text: String, _ found: [Screen.Outcome], after earlier: Int
  ) -> Violation? {
    let count = earlier + found.count
    guard let first = found.dropFirst(max(0, most - earlier)).first else { return nil }
    return Violation(at: first.at, text: "\(text): \(count), at most \(most)")
  }

  private var rings: [Screen.Outcome] { screen.outcomes.filter { $0.fate == .shown(.rang) } }

  private var timeSensitive: [Screen.Outcome] {
    screen.outcomes.filter { isTimeSensitive($0.push) && $0.fate.isShown }
  }

  /// Whether it may break through Focus. Android has no such level: there the rule's counts.
  private func isTimeSensitive(_ push: ScreenPush) -> Bool {
    push.platform == .ios
      ? push.readable.level == Alert.InterruptionLevel.timeSensitive.rawValue
      : sensitiveRules.contains(push.rule) && push.type == .alert
  }

  /// Returns which alert a phone that is off then would lose; whether it is off does not count.
  private func loss(behind type: PushType) -> Violation? {
    for (index, alert) in sent.enumerated() where alert.push.type == .alert {
      for later in sent[(index + 1)...] where later.push.type == type {
        var screen = Screen(screen.platform, at: alert.at)
        screen.goOffline(at: alert.at)
        screen.receive(alert.push, at: alert.at)
        screen.receive(later.push, at: later.at)
        let fate = screen.outcomes.first { $0.push == alert.push }?.fate
        if fate == .replaced(by: later.push.id) {
          return Violation(
            at: later.at,
            text: "would lose \(alert.push.rule) at \(time(alert.at)) if it were off: "
              + "\(later.push.rule) at \(time(later.at)) takes its place")
        }
        // It is kept no longer, so that nothing later takes its place.
        if fate != nil { break }
      }
    }
    return nil
  }
}

extension RuleSet {
  /// The rules whose alerts are time-sensitive.
  var timeSensitiveRules: Set<String> {
    Set(
      rules.filter { rule in
        guard case .alert(let alert, _) = rule.what else { return false }
        return alert.interruptionLevel == .timeSensitive
      }.map(\.name))
  }
}

extension PushFate {
  fileprivate var isShown: Bool { if case .shown = self { true } else { false } }
}
