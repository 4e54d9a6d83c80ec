import Base
import RideCore

/// Decodes `attributes`: a map of name to type.
struct AttributesDecoder: FileDecoder {
  let diagnostics: Diagnostics

  static let expected =
    "\(alternatives(AttributeType.named.map(\.name))), a list of words such as [taxi, xl], "
    + "a mapping such as { name: text }, or a list of one type such as [{ address: text, at: time }]"

  /// Returns the attributes; nil if one of them could not be decoded.
  func attributes(_ field: Field) -> DeclaredAttributes? {
    members(field.node, field.name).map { DeclaredAttributes($0) }
  }

  private func members(_ node: YAMLNode, _ title: String) -> [String: AttributeType]? {
    guard case .mapping(let pairs) = node.kind else {
      diagnostics.reportType(
        of: node, for: title,
        expected: "a map of name to type such as { eta_epoch: time, fare: number }")
      return nil
    }
    if pairs.isEmpty {
      diagnostics.report(node.location, "\(title) is an empty map", expected: "at least one name")
    }
    var types: [String: AttributeType] = [:]
    for pair in pairs {
      if !WordForm.attribute.allows(pair.key) {
        diagnostics.report(
          pair.keyLocation, "\(quoted(pair.key)) as a name in \(title)",
          expected: WordForm.attribute.rule, nearest: WordForm.attribute.repaired(pair.key))
        continue
      }
      types[pair.key] = type(pair.value, "\(title).\(shortened(pair.key))")
    }
    return types.isEmpty || types.count < pairs.count ? nil : types
  }

  private func type(_ node: YAMLNode, _ title: String) -> AttributeType? {
    switch node.kind {
    case .mapping: return members(node, title).map { .object($0) }
    case .sequence(let elements):
      if elements.count == 1, let element = elements.first, isType(element) {
        return type(element, title).map { .list($0) }
      }
      let words = decode.words(node, for: title, such: "[taxi, xl]")
      return words.count < max(1, elements.count) ? nil : .words(words.map(\.text))
    case .scalar, .refused:
      if let known = AttributeType.named.first(where: { $0.name == node.string }) {
        return known.type
      }
      diagnostics.reportType(
        of: node, for: title, expected: Self.expected, among: AttributeType.named.map(\.name))
      return nil
    }
  }

  /// Whether the only entry of a list is the type of its elements, and not a word.
  private func isType(_ node: YAMLNode) -> Bool {
    switch node.kind {
    case .mapping, .sequence: true
    case .scalar, .refused: AttributeType.named.contains { $0.name == node.string }
    }
  }
}

extension Diagnostics {
  /// Returns the type of an attribute; reports one that is not declared.
  ///
  /// - Parameters:
  ///   - key: the key of the rule that names it.
  ///   - prefix: what stands before the keys, such as `attributes`.
  /// - Returns: nil if nothing is declared, or if the attribute was reported.
  func attribute(
    _ keys: [String], of prefix: String, in key: String, at location: SourceLocation
  ) -> AttributeType? {
    guard let attributes else { return nil }
    do {
      return try attributes.type(at: keys, of: prefix)
    } catch {
      report(
        location, "\(key) names \(quoted(error.found))", expected: error.expected,
        nearest: error.nearest)
      return nil
    }
  }

  /// Reports an attribute that is declared as another type than a rule needs.
  func require(
    _ needed: AttributeType, _ why: String, _ keys: [String], in key: String,
    at location: SourceLocation
  ) {
    let type = attribute(keys, of: "attributes", in: key, at: location)
    guard let type, type != needed else { return }
    let path = (["attributes"] + keys).joined(separator: ".")
    report(
      location, "\(key) names \(path), declared as \(type.word)",
      expected: "an attribute of the type \(needed.word): \(why)")
  }
}
