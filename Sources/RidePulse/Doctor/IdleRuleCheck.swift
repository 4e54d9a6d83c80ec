import PostgresStore
import RideCore

/// Finds rules that wait for reports of phones that no phone of their app has ever sent.
enum IdleRuleCheck {
  /// Returns a warning for each app and kind of report; nothing if no rule waits in vain.
  static func results(_ reports: Probe<[AppReports]>, _ rules: RuleSet?) -> [CheckResult] {
    let waiting = (rules?.rules ?? []).filter { $0.isOfContact || $0.escalation != nil }
    if waiting.isEmpty { return [] }
    return reports.judged("idle rules", else: "they can't be found") { reports in
      reports.flatMap { report in
        let rules = waiting.filter { $0.apps.contains(report.app) }
        return contact(report, rules.filter(\.isOfContact))
          + receipt(report, rules.filter { $0.escalation != nil })
      }
    }
  }

  private static func contact(_ report: AppReports, _ rules: [Rule]) -> [CheckResult] {
    if report.hasContact || rules.isEmpty { return [] }
    let app = report.app
    return [
      .warning(
        "contact \(app)",
        "no owner of the app \(app) ever made contact, so these rules with at: contact never fire "
          + "for it: \(DatabaseCheck.list(rules.map(\.name)))",
        "from your backend, when the app calls it: select \(Database.schema).contact("
          + "\(SQLText.literal(app.rawValue)), 'OWNER')")
    ]
  }

  private static func receipt(_ report: AppReports, _ rules: [Rule]) -> [CheckResult] {
    if report.hasReceipt || rules.isEmpty { return [] }
    let app = report.app
    return [
      .warning(
        "receipts \(app)",
        "no phone of the app \(app) ever reported a push with escalate as seen, so these rules never "
          + "escalate for it: \(DatabaseCheck.list(rules.map(\.name)))",
        "let the app report each push that it displays, from your backend: "
          + "select \(Database.schema).seen('APNS_ID')")
    ]
  }
}

extension Rule {
  /// Whether one of its times counts from contacts.
  fileprivate var isOfContact: Bool {
    guard case .at(let timing) = when, case .times(let times) = timing.slots else { return false }
    return times.contains { $0.base == .contact }
  }
}
