/// Parses a cron expression.
struct CronParser {
  private let text: String

  init(_ text: String) {
    self.text = text
  }

  /// The numbers and names that a field allows.
  private struct Field {
    let name: String
    let range: ClosedRange<Int>
    var names: [String] = []
    /// The number of the first name.
    var firstName = 0

    var form: String {
      "\(name == "hour" ? "an" : "a") \(name) from \(range.lowerBound) to \(range.upperBound)"
    }
  }

  private static let fields = [
    Field(name: "minute", range: 0...59),
    Field(name: "hour", range: 0...23),
    Field(name: "day of the month", range: 1...31),
    Field(
      name: "month", range: 1...12,
      names: [
        "JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC",
      ], firstName: 1),
    Field(
      name: "day of the week", range: 0...7,
      names: ["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"]),
  ]

  private struct Word {
    let text: Substring
    let offset: Int
  }

  func fields() throws(CronError) -> CronFields {
    let words = words()
    if let first = words.first, first.text.hasPrefix("@") {
      throw CronError(
        offset: first.offset, found: Self.quoted(first.text),
        expected: "five fields, such as 0 8 * * MON-FRI")
    }
    guard words.count == 5 else {
      let found = words.count == 1 ? "1 field" : "\(words.count) fields"
      throw CronError(
        offset: words.dropFirst(5).first?.offset ?? 0, found: found,
        expected: "5: minute, hour, day of the month, month, day of the week")
    }
    var sets: [UInt64] = []
    for (word, field) in zip(words, Self.fields) { sets.append(try list(word, field)) }
    // Both 0 and 7 mean Sunday.
    let days = (sets[4] | sets[4] >> 7) & 0x7f
    let fields = CronFields(
      minutes: sets[0], hours: sets[1], daysOfMonth: sets[2], months: sets[3], daysOfWeek: days,
      anyDayOfMonth: words[2].text.hasPrefix("*"), anyDayOfWeek: words[4].text.hasPrefix("*"),
      anyHour: words[1].text.hasPrefix("*"))
    try check(fields, words[2])
    return fields
  }

  private func words() -> [Word] {
    var words: [Word] = []
    for (offset, index) in zip(0..., text.unicodeScalars.indices) {
      if text.unicodeScalars[index].properties.isWhitespace { continue }
      let end = text.unicodeScalars.index(after: index)
      if let last = words.last, last.text.endIndex == index {
        words[words.count - 1] = Word(
          text: text[last.text.startIndex..<end], offset: last.offset)
      } else {
        words.append(Word(text: text[index..<end], offset: offset))
      }
    }
    return words
  }

  private func list(_ word: Word, _ field: Field) throws(CronError) -> UInt64 {
    var bits: UInt64 = 0
    var offset = word.offset
    for part in word.text.split(separator: ",", omittingEmptySubsequences: false) {
      bits |= try entry(part, at: offset, field)
      offset += part.unicodeScalars.count + 1
    }
    return bits
  }

  /// Parses `*`, `5` or `1-5`, each with an optional step: `*/15`, `5/15`, `1-30/7`.
  private func entry(
    _ part: Substring, at offset: Int, _ field: Field
  ) throws(CronError) -> UInt64 {
    let pieces = part.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
    let step = pieces.count > 1 ? pieces[1] : nil
    let range = try range(pieces[0], at: offset, field, isOpen: step != nil)
    guard let step else { return Self.bits(range, by: 1) }
    let stepOffset = offset + pieces[0].unicodeScalars.count + 1
    let most = field.range.upperBound - field.range.lowerBound + 1
    guard let number = Self.number(step), (1...most).contains(number) else {
      throw CronError(
        offset: stepOffset, found: Self.quoted(step), expected: "a step from 1 to \(most)")
    }
    return Self.bits(range, by: number)
  }

  private func range(
    _ text: Substring, at offset: Int, _ field: Field, isOpen: Bool
  ) throws(CronError) -> ClosedRange<Int> {
    let last = field.range.upperBound
    if text == "*" { return field.range }
    let ends = text.split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
    let low = try value(ends[0], at: offset, field)
    guard ends.count > 1 else { return low...(isOpen ? last : low) }
    let highOffset = offset + ends[0].unicodeScalars.count + 1
    var high = try value(ends[1], at: highOffset, field)
    // FRI-SUN ends with the last day of the week, as 5-7 does; 5-0 is a backward range.
    if field.range == 0...7, low > 0, high == 0, Self.number(ends[1]) == nil { high = 7 }
    guard low <= high else {
      throw CronError(
        offset: offset, found: "the backward range \(Self.quoted(text))",
        expected: "two ranges: \(ends[0])-\(last),\(field.range.lowerBound)-\(ends[1])")
    }
    return low...high
  }

  private func value(
    _ text: Substring, at offset: Int, _ field: Field
  ) throws(CronError) -> Int {
    if let number = Self.number(text), field.range.contains(number) { return number }
    // Some letters outside ASCII have an ASCII capital.
    let isASCII = text.utf8.allSatisfy { $0 < 128 }
    if isASCII, let index = field.names.firstIndex(of: text.uppercased()) {
      return field.firstName + index
    }
    var expected = field.form
    if let first = field.names.first, let last = field.names.last {
      expected += ", or \(first) to \(last)"
    }
    throw CronError(
      offset: offset, found: text.isEmpty ? "nothing as a \(field.name)" : Self.quoted(text),
      expected: expected)
  }

  private func check(_ fields: CronFields, _ word: Word) throws(CronError) {
    let either = !fields.anyDayOfMonth && !fields.anyDayOfWeek
    let everyWeek = fields.daysOfMonth == Self.bits(1...31, by: 1)
    let everyMonth =
      fields.daysOfWeek == 0x7f && fields.daysOfMonth & Self.bits(1...28, by: 1) != 0
    if either || everyWeek || everyMonth { return }
    // Search one whole cycle of the calendar: from the first matching day to the same day 400 years
    // later.
    let first = fields.firstDay(from: 0, through: CronFields.longestWait)
    var last = first
    while let day = last, let first, day < first + CronFields.daysOfCalendar {
      last = fields.firstDay(from: day + 1, through: day + CronFields.longestWait)
    }
    if last != nil { return }
    throw CronError(
      offset: word.offset, found: "days that do not come within eight years",
      expected: "a day of the month that its months have")
  }

  private static func number(_ text: Substring) -> Int? {
    guard !text.isEmpty, text.utf8.count <= 4, text.utf8.allSatisfy({ (48...57).contains($0) })
    else { return nil }
    return Int(text)
  }

  private static func quoted(_ text: Substring) -> String { "\"\(text.prefix(40))\"" }

  private static func bits(_ range: ClosedRange<Int>, by step: Int) -> UInt64 {
    stride(from: range.lowerBound, through: range.upperBound, by: step)
      .reduce(0) { $0 | 1 << UInt64($1) }
  }
}
