/// A kind of notification that a person can turn off.
package struct Topic: Identifier {
  package let text: String

  package init(_ text: String) { self.text = text }

  /// Returns whether rules may name a topic so: a-z, 0-9, `-` and `_`, 1 to 64 of them.
  package static func isValid(_ text: String) -> Bool {
    (1...64).contains(text.utf8.count)
      && text.utf8.allSatisfy { byte in
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
          || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
          || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_")
      }
  }
}
