import Base
import RideCore

/// Compares the phones of a test with what must never be.
struct NeverComparison {
  private let test: RuleTest
  private let checks: [(phone: ScenarioPhone, check: ScreenLimitCheck)]

  init(_ test: RuleTest, _ run: RuleTestRun, _ rules: RuleSet) {
    self.test = test
    let end = test.end + .microseconds(999_999)
    let sensitiveRules = rules.timeSensitiveRules
    checks = test.scenario.phones.map { phone in
      let check = ScreenLimitCheck(
        screen: run.feed.screen(of: phone, at: end), sent: run.feed.pushes(to: phone.id),
        sensitiveRules: sensitiveRules, zone: { test.zone(of: phone, at: $0) }, time: test.time)
      return (phone, check)
    }
  }

  /// Returns where a phone breaks a limit, the first phone alone; nil if none does.
  func unmet(_ limit: ScreenLimit) -> UnmetExpectation? {
    for (phone, check) in checks {
      guard let found = check.violation(of: limit.kind) else { continue }
      var unmet = UnmetExpectation(
        kind: .never, location: limit.location,
        message: "\(test.title(of: phone)) \(found.text)")
      unmet.screen = check.screen.lines { test.offset($0) }
      return unmet
    }
    return nil
  }
}

extension RuleTest {
  fileprivate func title(of phone: ScenarioPhone) -> String {
    phone.name ?? row(of: phone).map { "the phone of \($0.app) \($0.ownerID)" } ?? "a phone"
  }

  fileprivate func zone(of phone: ScenarioPhone, at instant: Timestamp) -> ZoneTimes {
    let name = scenario.ride(at: instant)?.timeZone ?? row(of: phone)?.timeZone
    return name.flatMap { ZoneTimes(identifier: $0) } ?? .utc
  }

  private func row(of phone: ScenarioPhone) -> Phone? {
    scenario.view.phones.first { $0.id == phone.id }
  }
}
