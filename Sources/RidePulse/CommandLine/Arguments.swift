import Base
import RideCore

/// The arguments of a command, validated against its form.
struct Arguments {
  private(set) var operands: [String] = []
  private var values: [String: [String]] = [:]
  let form: CommandForm

  /// Parses words by a command's form.
  ///
  /// - Throws: `UsageError` for the first word that does not fit, with the nearest known one.
  init(_ words: [String], of form: CommandForm) throws(UsageError) {
    self.form = form
    var rest = words[...]
    while let word = rest.popFirst() {
      if word == "--" {
        operands += rest
        break
      }
      if word.hasPrefix("-"), word != "-" {
        try parse(word, &rest)
      } else {
        operands.append(word)
      }
    }
    if has("--help") { return }
    try checkOperands()
    try checkOptions()
  }

  private mutating func parse(_ word: String, _ rest: inout ArraySlice<String>) throws(UsageError) {
    let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
    let name = String(parts[0])
    let attached = parts.count > 1 ? String(parts[1]) : nil
    guard let option = form.allOptions.first(where: { $0.name == name }) else {
      throw error(
        "unknown option \(name)\(suggestion(for: name, among: form.allOptions.map(\.name)))"
          + (form.operands.isEmpty
            ? "" : "; an operand that begins with - is given after --, as in -- \(name)"))
    }
    guard let placeholder = option.value else {
      if attached != nil { throw error("\(name) takes no value") }
      values[name] = []
      return
    }
    guard let value = attached ?? rest.popFirst() else {
      throw error("\(name) needs a value: \(placeholder)")
    }
    if values[name] != nil, !option.isRepeatable { throw error("\(name) is given twice") }
    values[name, default: []].append(value)
  }

  private func checkOperands() throws(UsageError) {
    let required = form.operands.filter { !$0.isOptional }
    if operands.count < required.count {
      throw error("\(required[operands.count].name) is missing")
    }
    if operands.count > form.operands.count, form.operands.last?.isRepeatable != true {
      throw error("unexpected word \(operands[form.operands.count])")
    }
    for (operand, word) in zip(form.operands, operands) {
      try check(word, of: operand.name, operand.choices)
    }
  }

  private func checkOptions() throws(UsageError) {
    for option in form.allOptions {
      for word in all(option.name) { try check(word, of: option.name, option.choices) }
      if option.isRequired, value(option.name) ?? "" == "" {
        throw error("\(option.label) is missing")
      }
    }
  }

  private func check(_ word: String, of name: String, _ choices: [String]) throws(UsageError) {
    if choices.isEmpty || choices.contains(word) { return }
    throw error(
      "\(name) \(word) is not one of \(choices.joined(separator: ", "))"
        + suggestion(for: word, among: choices))
  }

  func has(_ name: String) -> Bool { values[name] != nil }

  func value(_ name: String) -> String? { values[name]?.last }

  func all(_ name: String) -> [String] { values[name] ?? [] }

  /// Returns the value of an option whose choices are the words of this type.
  func choice<Word: RawRepresentable>(_ name: String, of type: Word.Type = Word.self) -> Word?
  where Word.RawValue == String {
    value(name).flatMap(Word.init(rawValue:))
  }

  func duration(_ name: String) throws(UsageError) -> Duration? {
    guard let text = value(name) else { return nil }
    if let duration = Duration(rideText: text) { return duration }
    throw error("\(name) \(text) is not a duration; expected one such as 30s, 5m or 1h30m")
  }

  func time(_ name: String) throws(UsageError) -> Timestamp? {
    guard let text = value(name) else { return nil }
    if let instant = CivilTime.instant(iso: text) { return instant }
    throw error(
      "\(name) \(text) is not a time; expected one with a zone such as 2026-11-21T08:00:00Z or "
        + "2026-11-21T09:00:00+01:00")
  }

  func integer(_ name: String, in range: ClosedRange<Int>) throws(UsageError) -> Int? {
    guard let text = value(name) else { return nil }
    if let number = Int(text), range.contains(number) { return number }
    let end = range.upperBound == .max ? "on" : "to \(range.upperBound)"
    throw error("\(name) \(text) is not a whole number from \(range.lowerBound) \(end)")
  }

  /// Returns the error of an invalid argument.
  func error(_ message: String) -> UsageError { UsageError(message, form: form) }
}
