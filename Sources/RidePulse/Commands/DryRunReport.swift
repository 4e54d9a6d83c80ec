import PostgresStore
import RideCore

/// Formats a decision for people: the requests that would be sent, and what would not be sent.
enum DryRunReport {
  static func text(of decision: Decision) -> String {
    var blocks = decision.pushes.map(block)
    blocks += decision.unsent.map { entry in
      "\(entry.status.rawValue): \(entry.rule) to \(whom(entry.app.rawValue, entry.tokenSuffix))"
        + ": \(Escape.line(entry.reason?.text ?? ""))"
    }
    if blocks.isEmpty { blocks = ["no rule matches it"] }
    return blocks.joined(separator: "\n\n")
  }

  private static func block(_ push: PlannedPush) -> String {
    let entry = push.entry
    let fields = push.headers.fields(to: push.address).map {
      Escape.line("\($0.name): \($0.value)")
    }
    let lines =
      [
        "\(entry.rule) to \(whom(entry.app.rawValue, entry.tokenSuffix)), "
          + "\(push.environment.rawValue), true until \(CivilTime.iso(push.validUntil))",
        "POST \(push.address.shownPath)",
      ]
      + fields + ["", Escape.json(String(decoding: push.payload, as: UTF8.self))]
    return lines.joined(separator: "\n")
  }

  /// Formats one delivery of the ledger.
  static func line(of delivery: LedgerRow) -> String {
    let reason = delivery.reason.map { ": \(Escape.line($0))" } ?? ""
    let whom = whom(delivery.app, delivery.tokenSuffix)
    return "\(delivery.status): \(delivery.rule) to \(whom)\(reason)"
  }

  private static func whom(_ app: String, _ tokenSuffix: String?) -> String {
    Escape.line(tokenSuffix.map { "\(app) …\($0)" } ?? app)
  }
}
