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

  /// `customer …c1c1c1`
  static func recipient(_ app: String, _ tokenSuffix: String?) -> String {
    tokenSuffix.map { "\(app) …\($0)" } ?? app
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

extension CivilTime {
  /// Formats as `2026-11-21T08:15:00Z`, with microseconds if they are not zero.
  static func exact(_ instant: Timestamp) -> String {
    let rest = instant.fraction
    let text = iso(instant)
    if rest == 0 { return text }
    let digits = String(rest)
    let fraction = String(repeating: "0", count: 6 - digits.count) + digits
    return text.dropLast() + "." + fraction + "Z"
  }

  /// Formats as `2026-11-21 09:15:00 +01:00`, in the local time of a zone.
  static func local(_ instant: Timestamp, _ zone: ZoneTimes?) -> String {
    let offset = zone?.offset(at: instant) ?? 0
    let wall = iso(Timestamp(epochSeconds: instant.epochSeconds + offset))
    return wall.dropLast().replacing("T", with: " ") + " " + offsetText(offset)
  }

  /// Formats as `2026-11-21T08:15:00.250Z`, as log lines have it.
  static func milliseconds(_ instant: Timestamp) -> String {
    let thousandths = instant.fraction / 1000
    let digits = String(thousandths)
    return iso(instant).dropLast() + "." + String(repeating: "0", count: 3 - digits.count) + digits
      + "Z"
  }

  /// Formats as `09:15:00 +01:00` next to another time, and with the date if that has another one.
  static func clock(
    _ instant: Timestamp, _ zone: ZoneTimes?, nextTo other: Timestamp
  ) -> String {
    let text = local(instant, zone)
    let date = local(other, zone).prefix { $0 != " " }
    return text.hasPrefix(date + " ") ? String(text.dropFirst(date.count + 1)) : text
  }

  /// Formats as `+01:00`.
  static func offsetText(_ offset: Int64) -> String {
    let minutes = abs(offset) / 60
    func two(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }
    return (offset < 0 ? "-" : "+") + two(minutes / 60) + ":" + two(minutes % 60)
  }
}
