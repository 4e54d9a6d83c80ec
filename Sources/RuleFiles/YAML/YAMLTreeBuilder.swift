import Base
import RideCore

/// Builds the tree of one file: a single document without anchors, aliases, tags and repeated keys.
struct YAMLTreeBuilder: ~Copyable {
  /// The maximum nesting depth of lists and mappings.
  static let depthLimit = 64

  private var parser: YAMLParser
  private let diagnostics: Diagnostics
  private var anchors: Set<String> = []

  init(_ source: SourceText, diagnostics: Diagnostics) throws(YAMLFault) {
    parser = try YAMLParser(source)
    self.diagnostics = diagnostics
  }

  /// Returns the file's document; nil if the file is empty or contains only comments.
  ///
  /// - Throws: `YAMLFault` for an error that makes the rest of the file unreadable.
  mutating func document() throws(YAMLFault) -> YAMLNode? {
    _ = try parser.next()
    guard try parser.next().kind == .documentStart else { return nil }
    let root = try node(try parser.next(), depth: 0)
    _ = try parser.next()
    let rest = try parser.next()
    if rest.kind == .documentStart {
      diagnostics.report(
        rest.location, "a second document in the file", expected: "it in a file of its own")
    }
    return root
  }

  private mutating func node(_ event: YAMLEvent, depth: Int) throws(YAMLFault) -> YAMLNode {
    guard depth <= Self.depthLimit else {
      throw YAMLFault(
        location: event.location, found: "a value more than \(Self.depthLimit) levels deep",
        expected: "a flatter one")
    }
    let isDecorated = reportAnchorAndTag(of: event)
    switch event.kind {
    case .scalar(let text, let style):
      return YAMLNode(
        location: event.location,
        kind: isDecorated ? .refused : .scalar(scalar(text, style, event)))
    case .sequenceStart:
      var elements: [YAMLNode] = []
      while true {
        let element = try parser.next()
        if element.kind == .sequenceEnd { break }
        elements.append(try node(element, depth: depth + 1))
      }
      return YAMLNode(location: event.location, kind: .sequence(elements))
    case .mappingStart:
      return YAMLNode(location: event.location, kind: try mapping(event, depth: depth))
    case .alias(let name):
      if !anchors.contains(name) {
        diagnostics.report(
          event.location, "the alias \(quoted("*" + name))", expected: "the value written out here")
      }
      return YAMLNode(location: event.location, kind: .refused)
    default: return YAMLNode(location: event.location, kind: .refused)
    }
  }

  private mutating func mapping(
    _ start: YAMLEvent, depth: Int
  ) throws(YAMLFault) -> YAMLNode.Kind {
    var pairs: [YAMLNode.Pair] = []
    var indices: [String: Int] = [:]
    var isPlaceholder = false
    while true {
      let event = try parser.next()
      if event.kind == .mappingEnd { return isPlaceholder ? .refused : .mapping(pairs) }
      let key = try node(event, depth: depth + 1)
      let value = try node(try parser.next(), depth: depth + 1)
      guard case .scalar(let scalar) = key.kind else {
        isPlaceholder = isPlaceholder || Self.isPlaceholder(event, in: start)
        reportKey(key, isPlaceholder: Self.isPlaceholder(event, in: start), in: start)
        continue
      }
      if let first = indices[scalar.text] {
        pairs[first].isRepeated = true
        diagnostics.report(
          key.location, "the key \(quoted(scalar.text)) for the second time",
          expected: "it once (the first is at line \(pairs[first].keyLocation.line))")
        continue
      }
      indices[scalar.text] = pairs.count
      pairs.append(YAMLNode.Pair(key: scalar.text, keyLocation: key.location, value: value))
    }
  }

  /// Returns whether `{{…}}` outside quotes was parsed: a flow mapping whose key is a flow mapping,
  /// with adjacent braces.
  private static func isPlaceholder(_ key: YAMLEvent, in mapping: YAMLEvent) -> Bool {
    key.kind == .mappingStart(isFlow: true) && mapping.kind == .mappingStart(isFlow: true)
      && key.location
        == SourceLocation(line: mapping.location.line, column: mapping.location.column + 1)
  }

  private func reportKey(_ key: YAMLNode, isPlaceholder: Bool, in mapping: YAMLEvent) {
    if isPlaceholder {
      let fault = YAMLFault.barePlaceholder(at: mapping.location)
      diagnostics.report(fault.location, fault.found, expected: fault.expected)
    } else if !key.isRefused {
      diagnostics.report(key.location, "\(key.summary) as a key", expected: "a word")
    }
  }

  private mutating func reportAnchorAndTag(of event: YAMLEvent) -> Bool {
    if let anchor = event.anchor {
      anchors.insert(anchor)
      diagnostics.report(
        event.location, "the anchor \(quoted("&" + anchor))",
        expected: "each value written out where it is used")
    }
    if let tag = event.tag {
      let core = "tag:yaml.org,2002:"
      let short = tag.hasPrefix(core) ? "!!" + tag.dropFirst(core.count) : tag
      diagnostics.report(
        event.location, "the tag \(quoted(short))", expected: "the value without a tag")
    }
    return event.anchor != nil || event.tag != nil
  }

  private func scalar(
    _ text: String, _ style: YAMLEvent.ScalarStyle, _ event: YAMLEvent
  ) -> YAMLScalar {
    // An escape is longer in the file than in the text: if the widths agree, there is none.
    let quotes = style == .quoted ? 2 : 0
    let width = event.end.column - event.location.column
    let isLiteral =
      style != .block && event.location.line == event.end.line
      && width == text.unicodeScalars.count + quotes
    return YAMLScalar(
      text: text, value: style == .plain ? CoreSchema.value(of: text) : .string(text),
      textLocation: isLiteral
        ? SourceLocation(line: event.location.line, column: event.location.column + quotes / 2)
        : nil)
  }
}
