import RideCore

/// The arguments of a command, validated against its form.
struct Arguments {
  private(set) var operands: [String] = []
  private var values: [String: [String]] = [:]

  /// Parses words by a command's form.
  ///
  /// - Throws: `UsageError` for the first word that does not fit, with the nearest known one.
  init(_ words: [String], of form: CommandForm) throws(UsageError) {
    var rest = words[...]
    while let word = rest.popFirst() {
      guard word.hasPrefix("-"), word != "-" else {
        operands.append(word)
        continue
      }
      let (name, attached) = Self.split(word)
      guard let option = form.allOptions.first(where: { $0.name == name }) else {
        throw UsageError(
          "unknown option \(name)", known: form.allOptions.map(\.name), word: name, form: form)
      }
      guard option.value != nil else {
        if attached != nil { throw UsageError("\(name) takes no value", form: form) }
        values[name] = []
        continue
      }
      guard let value = attached ?? rest.popFirst() else {
        throw UsageError("\(name) needs a value: \(option.value ?? "")", form: form)
      }
      if values[name] != nil, !option.isRepeatable {
        throw UsageError("\(name) stands twice", form: form)
      }
      values[name, default: []].append(value)
    }
    if has("--help") { return }
    let required = form.operands.filter { !$0.isOptional }
    if operands.count < required.count {
      throw UsageError("\(required[operands.count].name) is missing", form: form)
    }
    if operands.count > form.operands.count {
      throw UsageError("unexpected word \(operands[form.operands.count])", form: form)
    }
  }

  private static func split(_ word: String) -> (name: String, value: String?) {
    guard let sign = word.firstIndex(of: "=") else { return (word, nil) }
    return (String(word[..<sign]), String(word[word.index(after: sign)...]))
  }

  /// Returns whether the option is present.
  func has(_ name: String) -> Bool { values[name] != nil }

  /// Returns the option's last value.
  func value(_ name: String) -> String? { values[name]?.last }

  /// Returns all values of a repeatable option.
  func all(_ name: String) -> [String] { values[name] ?? [] }

  /// Returns the option's value as a duration.
  func duration(_ name: String, of form: CommandForm) throws(UsageError) -> Duration? {
    guard let text = value(name) else { return nil }
    guard let duration = Duration(rideText: text) else {
      throw UsageError(
        "\(name) \(text) is not a duration; expected one such as 30s, 5m or 1h30m", form: form)
    }
    return duration
  }
}

/// An invalid command line, which exits with status 64.
struct UsageError: Error, CustomStringConvertible {
  let description: String

  init(_ message: String, form: CommandForm) {
    description =
      "ridepulse \(form.name): \(Escape.line(message))\nUsage: \(form.usage)"
  }

  init(_ message: String, known: [String], word: String, form: CommandForm) {
    let hint = nearestWord(to: word, among: known).map { "; did you mean \($0)?" } ?? ""
    self.init(message + hint, form: form)
  }

  init(unknownCommand word: String, known: [String]) {
    let hint = nearestWord(to: word, among: known).map { "; did you mean \($0)?" } ?? ""
    description =
      "ridepulse: unknown command \(Escape.line(word))\(hint)\nKnown are \(known.joined(separator: ", ")); "
      + "ridepulse --help says more"
  }
}
