/// The initializers `init(from:)` that `ridepulse generate swift` writes: the comparison of a card with
/// source knows what they decode.
package enum GeneratedDecoder: CaseIterable, Sendable {
  /// Of the ride's state: any text.
  case state
  /// Of `JSONValue`: any value.
  case value

  /// The lines of the initializer, not indented.
  package var lines: [String] {
    let text =
      switch self {
      case .state: Self.stateSource
      case .value: Self.valueSource
      }
    return text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
  }

  /// Returns the initializer with these tokens; nil if `generate` does not write it.
  init?(_ tokens: ArraySlice<SwiftToken>) {
    let found = Self.allCases.first { known in
      let own = try? SwiftLexer.tokens(Array(known.lines.joined(separator: "\n").utf8))
      return own?.map(\.kind) == tokens.map(\.kind)
    }
    guard let found else { return nil }
    self = found
  }

  private static let stateSource = """
    init(from decoder: any Decoder) throws {
      self.init(rawValue: try decoder.singleValueContainer().decode(String.self))
    }
    """

  private static let valueSource = """
    init(from decoder: any Decoder) throws {
      let container = try decoder.singleValueContainer()
      if container.decodeNil() {
        self = .null
      } else if let value = try? container.decode(Bool.self) {
        self = .bool(value)
      } else if let value = try? container.decode(Int.self) {
        self = .int(value)
      } else if let value = try? container.decode(Double.self) {
        self = .double(value)
      } else if let value = try? container.decode(String.self) {
        self = .string(value)
      } else if let value = try? container.decode([JSONValue].self) {
        self = .list(value)
      } else {
        self = .object(try container.decode([String: JSONValue].self))
      }
    }
    """
}
