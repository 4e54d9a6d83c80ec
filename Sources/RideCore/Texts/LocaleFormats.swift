import Foundation
import Synchronization

/// Writes times, numbers and amounts as one locale has them.
///
/// ICU's formatters take a tenth of a millisecond to make and two microseconds to use, so they are
/// kept. They may be used by several threads at once.
package final class LocaleFormats: Sendable {
  let plurals: PluralRules
  private let locale: Locale
  /// Whether clock and date are `08:05` and `2026-11-21` because no region is known.
  private let isNeutral: Bool
  private let formatters = Mutex<[FormatterKey: DateFormatter]>([:])

  /// The forms of texts that programs read: English words, a neutral clock and date.
  package static let neutral = LocaleFormats("en-001", isNeutral: true)

  private static let known = Mutex<[String: LocaleFormats]>([:])

  /// Returns the forms of a locale; a text that is no locale gives the neutral ones.
  ///
  /// - Parameter isNeutral: Whether only words and numbers follow the locale.
  package static func of(_ identifier: String, isNeutral: Bool = false) -> LocaleFormats {
    let key = isNeutral ? "=\(identifier)" : identifier
    if let known = known.withLock({ $0[key] }) { return known }
    let formats = LocaleFormats(identifier, isNeutral: isNeutral)
    known.withLock { known in
      // Locales come from the phones' rows, so their number is limited only here.
      if known.count >= 300 { known.removeAll() }
      known[key] = formats
    }
    return formats
  }

  private init(_ identifier: String, isNeutral: Bool) {
    let tag = LocaleTag(identifier)
    // What is too long for a locale with extensions is cut to what is known of it.
    let known = identifier.utf8.count <= 60 ? identifier : tag?.text
    locale = Locale(identifier: tag == nil ? "en-001" : known ?? "en-001")
    plurals = PluralRules(tag)
    self.isNeutral = isNeutral || tag == nil
  }

  /// The codes of the currencies that ISO 4217 lists.
  static let currencies = Set(Locale.Currency.isoCurrencies.map(\.identifier))

  /// The parts of a time that a formatter writes.
  private enum Skeleton: String, Hashable {
    /// Hours and minutes, by the region's clock of 12 or 24 hours.
    case time = "jmm"
    case date = "yMMMd"
    case weekday = "EEEE"
  }

  private struct FormatterKey: Hashable {
    let skeleton: Skeleton
    let zone: String
  }

  func time(_ time: Timestamp, in zone: TimeZone) -> String {
    isNeutral ? CivilTime.time(time, in: zone) : written(time, .time, zone)
  }

  func date(_ time: Timestamp, in zone: TimeZone) -> String {
    isNeutral ? CivilTime.date(time, in: zone) : written(time, .date, zone)
  }

  func weekday(_ time: Timestamp, in zone: TimeZone) -> String {
    written(time, .weekday, zone)
  }

  private func written(_ time: Timestamp, _ skeleton: Skeleton, _ zone: TimeZone) -> String {
    let key = FormatterKey(skeleton: skeleton, zone: zone.identifier)
    if let known = formatters.withLock({ $0[key] }) { return known.string(from: time.date) }
    let formatter = DateFormatter()
    formatter.locale = locale
    formatter.timeZone = zone
    let pattern = DateFormatter.dateFormat(
      fromTemplate: skeleton.rawValue, options: 0, locale: locale)
    formatter.dateFormat = pattern ?? (skeleton == .weekday ? "EEEE" : "HH:mm")
    formatters.withLock { formatters in
      // Three for each zone of the tz database would be more than a service ever has rides in.
      if formatters.count >= 300 { formatters.removeAll() }
      formatters[key] = formatter
    }
    return formatter.string(from: time.date)
  }

  /// Returns a text such as `in 3 minutes`, in the unit that suits the distance.
  ///
  /// Minutes up to 99 of them and hours up to 36: a ride in 90 minutes is not "in 2 hours".
  func relative(_ time: Timestamp, to now: Timestamp) -> String {
    let seconds = (time - now).components.seconds
    let distance = abs(seconds)
    let (field, unit): (Date.RelativeFormatStyle.Field, Int64) =
      if distance < 30 {
        (.second, Int64.max)
      } else if distance < 5970 {
        (.minute, 60)
      } else if distance < 36 * 3600 {
        (.hour, 3600)
      } else {
        (.day, 86_400)
      }
    let count = field == .second ? 0 : (distance + unit / 2) / unit * seconds.signum()
    // Any two times with this distance give the text; these have whole days between them.
    let anchor = Date(timeIntervalSinceReferenceDate: 0)
    let other = anchor.addingTimeInterval(Double(count) * Double(field == .second ? 1 : unit))
    var calendar = Calendar(identifier: .gregorian)
    calendar.timeZone = .gmt
    let style = Date.AnchoredRelativeFormatStyle(
      anchor: other, allowedFields: [field],
      presentation: field == .second ? .named : .numeric, unitsStyle: .wide, locale: locale,
      calendar: calendar)
    return style.format(anchor)
  }

  /// Returns an amount with its currency, such as `12,50 €`; halves are rounded away from zero.
  func currency(_ amount: Decimal, _ code: String) -> String {
    Decimal.FormatStyle.Currency(code: code, locale: locale)
      .rounded(rule: .toNearestOrAwayFromZero).format(amount)
  }

  /// Returns a number with the locale's digits and separators.
  func number(_ number: Decimal) -> String {
    Decimal.FormatStyle(locale: locale).format(number)
  }
}

extension JSONValue {
  /// The number, also if it is written as a text; nil for anything else.
  var decimal: Decimal? {
    switch self {
    case .integer(let number): Decimal(number)
    // By its text, because 0.1 as a double is not a tenth.
    case .number(let number): Decimal(string: String(number))
    case .string(let text): PluralNumber(text).flatMap { _ in Decimal(string: text) }
    default: nil
    }
  }

  /// The whole part of a number, rounded toward zero as by CEL's `int`; nil for anything else.
  var truncated: Int64? {
    switch self {
    case .integer(let number): number
    case .number(let number): Int64(exactly: number.rounded(.towardZero))
    case .string(let text):
      PluralNumber(text).flatMap { _ in Int64(text.prefix { $0 != "." }) }
    default: nil
    }
  }
}
