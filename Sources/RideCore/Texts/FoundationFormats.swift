import Foundation

/// The only way to Foundation's locales, zones and formats, which end the process if they are given
/// some names: `ar-AE-u-nu-arab`, the zone `ACT`.
///
/// Names come from phones and rides. So what is passed on is made here, of parts that are known:
/// `FormatLocale` for locales, and no zone at all, because a text shows UTC moved by the zone's offset
/// (`FoundationZones`).
package enum FoundationFormats {
  /// The codes of the currencies that ISO 4217 lists.
  static let currencies = Set(Locale.Currency.isoCurrencies.map(\.identifier))

  /// Returns whether a language is written from right to left.
  package static func isRightToLeft(_ language: String) -> Bool {
    FormatLocale(language).map {
      Locale(identifier: $0.text).language.characterDirection == .rightToLeft
    } ?? false
  }
}

/// Foundation's formats of one locale.
///
/// None of them is a `DateFormatter`: it traps if CoreFoundation has no formatter for a locale or a
/// zone, and these return a text.
struct FoundationLocale: Sendable {
  private let locale: Locale
  /// `08:05`, in CLDR's pattern, which `Date.FormatStyle` does not follow in each locale.
  private let clock: Date.VerbatimFormatStyle?
  private let days: Date.FormatStyle

  init(_ name: FormatLocale) {
    locale = Locale(identifier: name.text)
    let calendar = locale.calendar
    days = Date.FormatStyle(locale: locale, calendar: calendar, timeZone: .gmt)
    let pattern = DateFormatter.dateFormat(
      fromTemplate: "jmm", options: 0, locale: Locale(identifier: name.textWithoutDigits))
    clock = pattern.flatMap(Self.format).map { [locale] in
      Date.VerbatimFormatStyle(format: $0, locale: locale, timeZone: .gmt, calendar: calendar)
    }
  }

  /// Returns a time of day, in minutes after midnight.
  func time(minute: Int64) -> String {
    let date = Date(timeIntervalSince1970: Double(minute * 60))
    return clock?.format(date) ?? days.hour().minute().format(date)
  }

  /// Returns a date, as days since 1970.
  func date(day: Int64) -> String {
    days.year().month(.abbreviated).day().format(Self.noon(of: day))
  }

  /// Returns the name of a day of the week; day 0 is a Thursday, as in 1970.
  func weekday(day: Int64) -> String { days.weekday(.wide).format(Self.noon(of: day)) }

  private static func noon(of day: Int64) -> Date {
    Date(timeIntervalSince1970: Double(day) * 86_400 + 43_200)
  }

  /// Returns a distance in time in numbers, such as `in 3 minutes`; of 0 seconds, `now`.
  func relative(_ count: Int64, _ unit: RelativeUnit) -> String {
    // Any two times with this distance give the text; these have whole days between them.
    let anchor = Date(timeIntervalSinceReferenceDate: 0)
    let field: Date.RelativeFormatStyle.Field =
      switch unit {
      case .second: .second
      case .minute: .minute
      case .hour: .hour
      case .day: .day
      }
    var calendar = Calendar(identifier: .gregorian)
    calendar.timeZone = .gmt
    let style = Date.AnchoredRelativeFormatStyle(
      anchor: anchor.addingTimeInterval(Double(count) * Double(unit.rawValue)),
      allowedFields: [field], presentation: unit == .second ? .named : .numeric, unitsStyle: .wide,
      locale: locale, calendar: calendar)
    return style.format(anchor)
  }

  enum RelativeUnit: Int64 {
    case second = 1
    case minute = 60
    case hour = 3600
    case day = 86_400
  }

  func currency(_ amount: Decimal, _ code: String) -> String {
    Decimal.FormatStyle.Currency(code: code, locale: locale)
      .rounded(rule: .toNearestOrAwayFromZero).format(amount)
  }

  func number(_ number: Decimal) -> String { Decimal.FormatStyle(locale: locale).format(number) }

  /// Converts a pattern such as `h:mm a`; nil if it has other parts than a clock.
  private static func format(_ pattern: String) -> Date.FormatString? {
    var parts = Date.FormatString.StringInterpolation(literalCapacity: 0, interpolationCount: 0)
    var rest = Substring(pattern)
    // Appended as one: between two literals, Foundation writes a quote.
    var literal = ""
    while let first = rest.first {
      if first == "'" {
        let quoted = rest.dropFirst().prefix { $0 != "'" }
        // Two quotes are one.
        literal += quoted.isEmpty ? "'" : quoted
        rest = rest.dropFirst(quoted.count + 2)
      } else if first.isASCII, first.isLetter {
        parts.appendLiteral(literal)
        literal = ""
        let count = rest.prefix { $0 == first }.count
        guard append(first, count, to: &parts) else { return nil }
        rest = rest.dropFirst(count)
      } else {
        literal.append(first)
        rest = rest.dropFirst()
      }
    }
    parts.appendLiteral(literal)
    return Date.FormatString(stringInterpolation: parts)
  }

  private static func append(
    _ letter: Character, _ count: Int, to parts: inout Date.FormatString.StringInterpolation
  ) -> Bool {
    typealias Hour = Date.FormatStyle.Symbol.VerbatimHour
    typealias Period = Date.FormatStyle.Symbol.DayPeriod
    func hour(_ clock: Hour.Clock, _ start: Hour.HourCycle) {
      parts.appendInterpolation(
        hour: count > 1
          ? .twoDigits(clock: clock, hourCycle: start)
          : .defaultDigits(clock: clock, hourCycle: start))
    }
    let width: Period.Width = count < 4 ? .abbreviated : count == 4 ? .wide : .narrow
    switch letter {
    case "h": hour(.twelveHour, .oneBased)
    case "H": hour(.twentyFourHour, .zeroBased)
    case "K": hour(.twelveHour, .zeroBased)
    case "k": hour(.twentyFourHour, .oneBased)
    case "m": parts.appendInterpolation(minute: count > 1 ? .twoDigits : .defaultDigits)
    case "a": parts.appendInterpolation(dayPeriod: .standard(width))
    case "b": parts.appendInterpolation(dayPeriod: .with12s(width))
    case "B": parts.appendInterpolation(dayPeriod: .conversational(width))
    default: return false
    }
    return true
  }
}
