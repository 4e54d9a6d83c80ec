import Base
import RideCore

/// Compares the phones of a test with what must never be.
struct ScreenLimitCheck {
  private let test: RuleTest
  private let run: RuleTestRun

  init(_ test: RuleTest, _ run: RuleTestRun) {
    self.test = test
    self.run = run
  }

  /// Returns where a phone breaks a limit, the first phone alone; nil if none does.
  func unmet(_ limit: ScreenLimit) -> UnmetExpectation? {
    for phone in test.screenPhones {
      let screen = run.feed.screen(of: phone, at: test.end + .microseconds(999_999))
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
      let zone = ZoneTimes(identifier: test.scenario.zoneName) ?? .utc
      let ring = screen.outcomes.first {
        $0.fate == .shown(.rang) && hours.end(at: $0.at, in: zone) != nil
      }
      return ring.map { "rang at \(CivilTime.local($0.at, zone)), by \($0.push.rule)" }
    case .ringsPerRide(let count):
      let rang = screen.count(.rang)
      return rang > count ? "rang too often: \(rang), at most \(count)" : nil
    case .timeSensitivePerRide(let count):
      let sensitive = screen.outcomes.count { $0.push.isTimeSensitive && $0.fate.isShown }
      return sensitive > count
        ? "received too many time-sensitive alerts: \(sensitive), at most \(count)" : nil
    case .staleCardFor(let duration):
      let stale = screen.longestStale
      return stale > duration
        ? "showed a stale card for \(stale.rideText), at most \(duration.rideText)" : nil
    case .lostBehind(let type): return loss(behind: type, phone)
    }
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
  /// All phones, also those that `given` does not name.
  fileprivate var screenPhones: [ScenarioPhone] {
    if !scenario.phones.isEmpty { return scenario.phones }
    return scenario.view.phones.map {
      ScenarioPhone(name: nil, id: $0.id, platform: $0.platform, start: scenario.start)
    }
  }

  fileprivate func title(of phone: ScenarioPhone) -> String {
    let row = scenario.view.phones.first { $0.id == phone.id }
    return phone.name ?? row.map { "the phone of \($0.app) \($0.ownerID)" } ?? "a phone"
  }
}

extension ScreenPush {
  /// Whether it may break through Focus, or asks for the channel that is for such alerts.
  fileprivate var isTimeSensitive: Bool {
    let shown = readable
    return shown.level == Alert.InterruptionLevel.timeSensitive.rawValue
      || shown.android?.channel == AndroidChannel.now.rawValue
  }
}

extension PushFate {
  fileprivate var isShown: Bool { if case .shown = self { true } else { false } }
}
