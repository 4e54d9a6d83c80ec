import Base

// The approximate sizes of what rules send, before placeholders are filled in.

extension PayloadTemplate {
  /// Returns the approximate size in bytes; the longest text counts if there are several languages.
  func size(ofPlaceholder size: Int) -> Int {
    switch self {
    case .literal(let value): value.json.count
    case .value(let text): text.bytes(ofPlaceholder: size) + 2
    case .visible(let texts):
      (texts.texts.map { locale, text in
        let isIsolated = TextDirection(of: text, locale: locale) == .rightToLeft
        return text.bytes(ofPlaceholder: size + (isIsolated ? TextDirection.isolateBytes : 0))
      }.max() ?? 0) + 2
    case .object(let members):
      members.reduce(1) { $0 + $1.key.utf8.count + 4 + $1.value.size(ofPlaceholder: size) }
    case .array(let elements): elements.reduce(1) { $0 + 1 + $1.size(ofPlaceholder: size) }
    case .field(let value, _): value.size(ofPlaceholder: size)
    }
  }
}

extension TextTemplate {
  func bytes(ofPlaceholder size: Int) -> Int {
    segments.reduce(0) { sum, segment in
      if case .literal(let text) = segment { sum + text.utf8.count } else { sum + size }
    }
  }
}
