import Base
import RideCore

/// Compares the phones of a test with what must never be.
struct ScreenLimitCheck {
  private let test: RuleTest
  private let run: RuleTestRun
  /// Each phone at the end of the test.
  private let screens: [(phone: ScenarioPhone, screen: Screen)]
  /// The rules whose alerts are time-sensitive.
  private let sensitiveRules: Set<String>

  init(_ test: RuleTest, _ run: RuleTestRun, _ rules: RuleSet) {
    self.test = test
    self.run = run
    let end = test.end + .microseconds(999_999)
    screens = test.scenario.phones.map { ($0, run.feed.screen(of: $0, at: end)) }
    sensitiveRules = Set(rules.rules.filter(\.isTimeSensitive).map(\.name))
  }

  /// Returns where a phone breaks a limit, the first phone alone; nil if none does.
  func unmet(_ limit: ScreenLimit) -> UnmetExpectation? {
    for (phone, screen) in screens {
      guard let found = violation(of: limit.kind, screen, phone) else { continue }
      var unmet = UnmetExpectation(
        kind: .never, location: limit.location, message: "\(test.title(of: phone)) \(found)")
      unmet.screen = screen.lines { test.offset($0) }
      return unmet
    }
    return nil
  }

  private func violation(
    of limit: ScreenLimit.Kind, _ screen: Screen, _ phone: ScenarioPhone
  ) -> String? {
    switch limit {
    case .ringsBetween(let from, let to):
      let hours = QuietHours(from: from, to: to, zone: .ride, then: .drop)
      let ring = screen.outcomes.first {
        $0.fate == .shown(.rang) && hours.end(at: $0.at, in: zone(of: phone, at: $0.at)) != nil
      }
      return ring.map {
        "rang at \(CivilTime.local($0.at, zone(of: phone, at: $0.at))), by \($0.push.rule)"
      }
    case .ringsPerRide(let count):
      let rang = screen.count(.rang)
      return rang > count ? "rang too often: \(rang), at most \(count)" : nil
    case .timeSensitivePerRide(let count):
      let sensitive = screen.outcomes.count { isTimeSensitive($0.push) && $0.fate.isShown }
      return sensitive > count
        ? "received too many time-sensitive alerts: \(sensitive), at most \(count)" : nil
    case .staleCardFor(let duration):
      let stale = screen.longestStale
      return stale > duration
        ? "showed a stale card for \(stale.rideText), at most \(duration.rideText)" : nil
    case .lostBehind(let type): return loss(behind: type, phone)
    }
  }

  /// Returns the zone of the ride as it is then; without a ride, that of the phone.
  private func zone(of phone: ScenarioPhone, at instant: Timestamp) -> ZoneTimes {
    let row = test.scenario.view.phones.first { $0.id == phone.id }
    let name = test.scenario.ride(at: instant)?.timeZone ?? row?.timeZone
    return name.flatMap { ZoneTimes(identifier: $0) } ?? .utc
  }

  /// Whether it may break through Focus. Android has no such level: there the rule's counts.
  private func isTimeSensitive(_ push: ScreenPush) -> Bool {
    push.platform == .ios
      ? push.readable.level == Alert.InterruptionLevel.timeSensitive.rawValue
      : sensitiveRules.contains(push.rule) && push.type == .alert
  }

  /// Returns which alert a phone that is off then would lose; whether it is off does not count.
  private func loss(behind type: PushType, _ phone: ScenarioPhone) -> String? {
    let sent = run.feed.pushes(to: phone.id)
    for (index, alert) in sent.enumerated() where alert.push.type == .alert {
      for later in sent[(index + 1)...] where later.push.type == type {
        var screen = Screen(phone.platform, at: alert.at)
        screen.goOffline(at: alert.at)
        screen.receive(alert.push, at: alert.at)
        screen.receive(later.push, at: later.at)
        let isLost = screen.outcomes.contains { $0.fate == .replaced(by: later.push.id) }
        if isLost {
          return "would lose \(alert.push.rule) at \(test.time(alert.at)) if it were off: "
            + "\(later.push.rule) at \(test.time(later.at)) takes its place"
        }
      }
    }
    return nil
  }
}

extension RuleTest {
  fileprivate func title(of phone: ScenarioPhone) -> String {
    let row = scenario.view.phones.first { $0.id == phone.id }
    return phone.name ?? row.map { "the phone of \($0.app) \($0.ownerID)" } ?? "a phone"
  }
}

extension Rule {
  fileprivate var isTimeSensitive: Bool {
    guard case .alert(let alert, _) = what else { return false }
    return alert.interruptionLevel == .timeSensitive
  }
}

extension PushFate {
  fileprivate var isShown: Bool { if case .shown = self { true } else { false } }
}
