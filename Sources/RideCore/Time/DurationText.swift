extension Duration {
  /// Parses `15s`, `5m`, `1h30m`, `2d`: whole numbers with a unit each, larger units first.
  ///
  /// Nil for anything else, for zero, and for more than ten years.
  package init?(rideText text: String) {
    let units: [(letter: Character, seconds: Int64)] = [
      ("d", 86_400), ("h", 3_600), ("m", 60), ("s", 1),
    ]
    var seconds: Int64 = 0
    var digits: Int64?
    var next = 0
    for character in text {
      if let digit = character.wholeNumberValue, character.isASCII {
        let number = (digits ?? 0) * 10 + Int64(digit)
        guard number <= 1_000_000_000 else { return nil }
        digits = number
        continue
      }
      guard let number = digits,
        let unit = units[next...].firstIndex(where: { $0.letter == character })
      else { return nil }
      seconds += number * units[unit].seconds
      next = unit + 1
      digits = nil
    }
    guard digits == nil, seconds > 0, seconds <= 3_652 * 86_400 else { return nil }
    self = .seconds(seconds)
  }

  /// The shortest text that parses to these whole seconds, such as `1h30m`.
  package var rideText: String {
    var rest = components.seconds
    guard rest > 0 else { return "0s" }
    var text = ""
    for (letter, seconds) in [("d", Int64(86_400)), ("h", 3_600), ("m", 60), ("s", 1)]
    where rest >= seconds {
      text += "\(rest / seconds)\(letter)"
      rest %= seconds
    }
    return text
  }
}
