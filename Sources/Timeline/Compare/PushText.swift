/// What a push shows as a text, next to what an old sender's log has.
package struct PushText: Hashable, Sendable {
  private let parts: [String]
  private let body: String?

  /// Nil if the push shows no text.
  package init?(_ push: ReadablePush) {
    self.init(title: push.title, subtitle: push.subtitle, body: push.body)
  }

  init?(title: String?, subtitle: String? = nil, body: String?) {
    self.body = body
    parts = [title, subtitle, body].compactMap(\.self).filter { !$0.isEmpty }
    if parts.isEmpty { return nil }
  }

  /// All parts in one line.
  package var text: String { parts.joined(separator: ": ") }

  /// Whether a log has this text: the body alone, or all parts with whatever it puts between them.
  package func isSame(as old: String) -> Bool {
    let old = Self.words(old)
    if let body, Self.words(body) == old { return true }
    return parts.count > 1 && Self.isJoined(parts.map(Self.words), in: old)
      || Self.words(text) == old
  }

  /// Returns the text with single blanks.
  private static func words(_ text: String) -> String {
    text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
  }

  private static func isJoined(_ parts: [String], in text: String) -> Bool {
    var rest = text[...]
    for (index, part) in parts.enumerated() {
      if index > 0 { rest = rest.drop { separators.contains($0) } }
      guard rest.hasPrefix(part) else { return false }
      rest = rest.dropFirst(part.count)
    }
    return rest.isEmpty
  }

  private static let separators: Set<Character> = [
    " ", ":", "-", "–", "—", "|", ".", ",", "/", "•",
  ]
}
