import RideCore

/// Generates random device tokens.
enum RandomToken {
  /// - Parameter words: the length in words of 16 hexadecimal digits.
  static func make(words: Int, _ numbers: inout SeededGenerator) -> String {
    (0..<words).map { _ in
      let text = String(numbers.next(), radix: 16)
      return String(repeating: "0", count: 16 - text.count) + text
    }.joined()
  }
}
