/// The times of a day file: ISO 8601 with microseconds, without Foundation, which takes microseconds
/// for each of them.
package enum DayTime {
  /// Returns a text such as `2026-11-21T08:05:00Z`, or with six decimals if they are not zero.
  package static func text(_ instant: Timestamp) -> String {
    let seconds = instant.epochSeconds
    let rest = instant.fraction
    let day = seconds >= 0 ? seconds / 86_400 : (seconds - 86_399) / 86_400
    let second = seconds - day * 86_400
    let (year, month, date) = CELCalendar.date(ofDay: day)
    var text = padded(year, 4) + "-" + padded(month, 2) + "-" + padded(date, 2) + "T"
    text += padded(second / 3600, 2) + ":" + padded(second / 60 % 60, 2)
    text += ":" + padded(second % 60, 2)
    if rest != 0 { text += "." + padded(rest, 6) }
    return text + "Z"
  }

  /// Parses what `text` returns; anything else, such as a time with an offset, is left to `CivilTime`.
  package static func instant(_ text: String) -> Timestamp? {
    plain(Array(text.utf8)) ?? CivilTime.instant(iso: text)
  }

  private static func padded(_ number: Int64, _ width: Int) -> String {
    let digits = String(number)
    return String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits
  }

  /// Nil unless the text has the form `2026-11-21T08:05:00Z`, with one to six decimals or none.
  package static func plain(_ text: [UInt8]) -> Timestamp? {
    guard text.count >= 20, text.count <= 27, text.last == UInt8(ascii: "Z") else { return nil }
    func number(_ start: Int, _ count: Int) -> Int64? {
      var number: Int64 = 0
      for byte in text[start..<start + count] {
        guard byte >= 48, byte <= 57 else { return nil }
        number = number * 10 + Int64(byte - 48)
      }
      return number
    }
    let marks: [(Int, Unicode.Scalar)] = [(4, "-"), (7, "-"), (10, "T"), (13, ":"), (16, ":")]
    guard marks.allSatisfy({ text[$0.0] == UInt8(ascii: $0.1) }),
      let year = number(0, 4), let month = number(5, 2), let date = number(8, 2),
      let hour = number(11, 2), let minute = number(14, 2), let second = number(17, 2),
      year > 0, (1...12).contains(month), hour < 24, minute < 60, second < 60,
      date > 0, date <= CELCalendar.days(inMonth: month, of: year)
    else { return nil }
    var micro: Int64 = 0
    if text.count > 20 {
      let places = text.count - 21
      guard text[19] == UInt8(ascii: "."), places > 0, let fraction = number(20, places) else {
        return nil
      }
      micro = fraction
      for _ in places..<6 { micro *= 10 }
    }
    let day = CELCalendar.days(toYear: year, month: month, day: date)
    let seconds = day * 86_400 + hour * 3600 + minute * 60 + second
    return Timestamp(microseconds: seconds * 1_000_000 + micro)
  }
}
