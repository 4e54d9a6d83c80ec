/// A time of ISO 8601 with a zone, such as `2026-11-22T08:00:00.5+01:00`, in nanoseconds.
package struct ISOTime {
  /// Seconds since 1970.
  package let seconds: Int64
  /// Nanoseconds after that, from 0 to 999,999,999; further decimals are dropped.
  package let nanoseconds: Int64

  /// Parses a time; nil for anything else.
  ///
  /// - Parameter isRFC3339: Whether the hours and minutes of an offset need a colon between them.
  package init?(_ text: [UInt8], isRFC3339: Bool = false) {
    var fields = DigitReader(text)
    guard let year = fields.number(4), fields.skip("-"), let month = fields.number(2),
      fields.skip("-"), let day = fields.number(2), fields.skip("T"), let hour = fields.number(2),
      fields.skip(":"), let minute = fields.number(2), fields.skip(":"),
      let second = fields.number(2), let fraction = fields.fraction(),
      let offset = fields.skip("Z")
        ? 0 : fields.offset(needsSign: true, needsColon: isRFC3339),
      fields.isAtEnd, (1...12).contains(month),
      (1...CivilDate.days(inMonth: month, of: year)).contains(day), hour < 24, minute < 60,
      second < 60
    else { return nil }
    let days = CivilDate.days(toYear: year, month: month, day: day)
    seconds = days * 86_400 + hour * 3600 + minute * 60 + second - offset
    nanoseconds = fraction
  }
}
