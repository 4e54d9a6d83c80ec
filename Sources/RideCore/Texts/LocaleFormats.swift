import Base
import Foundation
import Synchronization

/// Writes times, numbers and amounts as one locale has them.
///
/// ICU's formatters take a tenth of a millisecond to make and Foundation keeps a hundred of them, so
/// the texts of times are kept here: few differ.
package final class LocaleFormats: Sendable {
  let plurals: PluralRules
  private let locale: FoundationLocale?
  /// Whether clock and date are `08:05` and `2026-11-21` because no region is known.
  private let isNeutral: Bool
  private let texts = Mutex<[TextKey: String]>([:])

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
    let name = FormatLocale(identifier)
    locale = (name ?? FormatLocale("en-001")).map(FoundationLocale.init)
    plurals = PluralRules(LocaleTag(identifier))
    self.isNeutral = isNeutral || name == nil
  }

  private enum TextKey: Hashable {
    /// Minutes after midnight.
    case time(Int64)
    /// Days since 1970.
    case date(Int64)
    /// Days since 1970, from 0 to 6.
    case weekday(Int64)
  }

  func time(_ time: Timestamp, in zone: ZoneTimes) -> String {
    let neutral = CivilTime.time(time, in: zone)
    return isNeutral ? neutral : text(.time(LocalTime(time, in: zone).minute)) ?? neutral
  }

  func date(_ time: Timestamp, in zone: ZoneTimes) -> String {
    let neutral = CivilTime.date(time, in: zone)
    return isNeutral ? neutral : text(.date(LocalTime(time, in: zone).day)) ?? neutral
  }

  func weekday(_ time: Timestamp, in zone: ZoneTimes) -> String {
    let day = LocalTime(time, in: zone).day % 7
    return text(.weekday(day < 0 ? day + 7 : day)) ?? CivilTime.date(time, in: zone)
  }

  /// Returns nil if ICU has no text, so that no push has a gap.
  private func text(_ key: TextKey) -> String? {
    if let known = texts.withLock({ $0[key] }) { return known }
    guard let locale else { return nil }
    let text =
      switch key {
      case .time(let minute): locale.time(minute: minute)
      case .date(let day): locale.date(day: day)
      case .weekday(let day): locale.weekday(day: day)
      }
    if text.isEmpty { return nil }
    texts.withLock { texts in
      if texts.count >= 500 { texts.removeAll() }
      texts[key] = text
    }
    return text
  }

  /// Returns a text such as `in 3 minutes`, in the unit that suits the distance.
  ///
  /// Minutes up to 99 of them and hours up to 36: a ride in 90 minutes is not "in 2 hours".
  func relative(_ time: Timestamp, to now: Timestamp) -> String {
    let seconds = (time - now).components.seconds
    let distance = abs(seconds)
    let unit: FoundationLocale.RelativeUnit =
      if distance < 30 {
        .second
      } else if distance < 5970 {
        .minute
      } else if distance < 36 * 3600 {
        .hour
      } else {
        .day
      }
    let count =
      unit == .second ? 0 : (distance + unit.rawValue / 2) / unit.rawValue * seconds.signum()
    return locale?.relative(count, unit) ?? CivilTime.iso(time)
  }

  /// Returns an amount with its currency, such as `12,50 €`; halves are rounded away from zero.
  func currency(_ amount: Decimal, _ code: String) -> String {
    locale?.currency(amount, code) ?? "\(amount) \(code)"
  }

  /// Returns a number with the locale's digits and separators.
  func number(_ number: Decimal) -> String { locale?.number(number) ?? "\(number)" }
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
