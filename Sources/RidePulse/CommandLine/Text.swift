import Base
import RideCore

/// Formats a count with its noun: `1 push`, `2 pushes`.
func counted(_ count: Int, _ noun: String, _ plural: String? = nil) -> String {
  "\(count) \(count == 1 ? noun : plural ?? noun + "s")"
}

/// Appends spaces to a table cell.
func padded(_ text: String, to width: Int) -> String {
  text + String(repeating: " ", count: max(0, width - text.count))
}

/// Formats parts of a ledger row for people.
enum LedgerText {
  /// The rule's name, or words for an event that no rule file declares.
  static func rule(_ name: String) -> String { name.isEmpty ? "no rule" : name }

  /// The status with its reason; an event that was emitted is not a push that was accepted.
  static func outcome(
    _ entry: LedgerEntry, _ clock: (Timestamp) -> String = CivilTime.iso
  ) -> String {
    let reason = entry.reason?.text(by: clock)
    if !entry.kind.isSent, entry.status == .accepted { return reason ?? "" }
    return entry.status.rawValue + (reason.map { ": \($0)" } ?? "")
  }

  /// `customer c1 …c1c1c1`, or `customer …3f9a1c (Android)`
  static func recipient(
    _ app: String, of owner: OwnerID? = nil, _ tokenSuffix: String?, isAndroid: Bool = false
  ) -> String {
    let person = owner.map { "\(app) \($0)" } ?? app
    return tokenSuffix.map { "\(person) …\($0)" + (isAndroid ? " (Android)" : "") } ?? person
  }

  /// `alert`, or `card update`
  static func kind(_ pushType: String, _ cardEvent: String?) -> String {
    cardEvent.map { "card \($0)" } ?? pushType
  }
}

extension JSONValue {
  /// The value as a JSON text with sorted keys.
  var text: String { String(decoding: json, as: UTF8.self) }

  static func orNull(_ text: String?) -> JSONValue { text.map { .string($0) } ?? .null }
  static func orNull(_ number: Int64?) -> JSONValue { number.map { .integer($0) } ?? .null }
  static func orNull(_ time: Timestamp?) -> JSONValue { orNull(time.map(CivilTime.exact)) }
}
