import Base
import PostgresStore
import RideCore

/// Formats a decision: the requests that would be sent, and what would not be sent.
enum DryRunReport {
  static func text(of decision: Decision) -> String {
    var blocks = decision.pushes.map(block)
    blocks += others(decision).map { entry in
      let target = target(entry.rule, entry.app.rawValue, entry.owner, entry.tokenSuffix)
      let reason = Escape.line(entry.reason?.text ?? "")
      let isAtWork = !entry.kind.isSent && [.accepted, .pending].contains(entry.status)
      return "\(isAtWork ? entry.kind.rawValue : entry.status.rawValue): \(target): \(reason)"
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
        "\(target(entry.rule, entry.app.rawValue, entry.owner, entry.tokenSuffix)), "
          + "\(push.network.rawValue), valid until \(CivilTime.iso(validUntil(push)))",
        "POST \(push.address.shownPath)",
      ]
      + fields + ["", Escape.json(String(decoding: push.payload, as: UTF8.self))]
    return lines.joined(separator: "\n")
  }

  /// An end is stored for as long as a screen can show the card.
  private static func validUntil(_ push: PlannedPush) -> Timestamp {
    if case .at(let instant) = push.headers.expiration { instant } else { push.validUntil }
  }

  static func json(of decision: Decision, event: String, ride: RideID) -> JSONValue {
    .object([
      "event": .string(event), "ride_id": .string(ride.text),
      "pushes": .array(decision.pushes.map(json)),
      "others": .array(others(decision).map(json)),
    ])
  }

  private static func json(_ push: PlannedPush) -> JSONValue {
    let entry = push.entry
    let fields = push.headers.fields(to: push.address).map { ($0.name, JSONValue.string($0.value)) }
    return .object([
      "rule": .string(entry.rule), "app": .string(entry.app.rawValue),
      "owner_id": .orNull(entry.owner?.text), "network": .string(push.network.rawValue),
      "token_suffix": .orNull(entry.tokenSuffix),
      "valid_until": .orNull(validUntil(push)), "path": .string(push.address.shownPath),
      "headers": .object(Dictionary(fields) { $1 }),
      "payload": JSONValue(json: push.payload) ?? .null,
    ])
  }

  private static func json(_ entry: LedgerEntry) -> JSONValue {
    .object([
      "kind": .string(entry.kind.rawValue), "status": .string(entry.status.rawValue),
      "rule": .string(entry.rule), "app": .string(entry.app.rawValue),
      "owner_id": .orNull(entry.owner?.text), "token_suffix": .orNull(entry.tokenSuffix),
      "reason": .orNull(entry.reason?.text),
      "reason_code": .orNull(entry.reason?.code.word),
    ])
  }

  /// What is not sent now, with its reason.
  private static func others(_ decision: Decision) -> [LedgerEntry] {
    decision.ended + decision.covered + decision.deferred.map(\.entry)
  }

  static func line(of delivery: LedgerRow) -> String {
    let reason = delivery.reason.map { ": \(Escape.line($0))" } ?? ""
    let target = target(delivery.rule, delivery.app, delivery.ownerID, delivery.tokenSuffix)
    return "\(delivery.status): \(target)\(reason)"
  }

  private static func target(
    _ rule: String, _ app: String, _ owner: OwnerID?, _ tokenSuffix: String?
  ) -> String {
    if rule.isEmpty { return LedgerText.rule(rule) }
    return "\(rule) to \(Escape.line(LedgerText.recipient(app, of: owner, tokenSuffix)))"
  }
}
