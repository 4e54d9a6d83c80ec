import Base
internal import RideCore

/// Decodes the `type` of a card's field: `int`, `[van, taxi]`, `[{ address: string, eta: date-epoch }]`.
struct FieldTypeDecoder: FileDecoder {
  let diagnostics: Diagnostics

  static let expected =
    "\(alternatives(DeclaredType.allCases.map(\.rawValue))), a list of words such as [van, taxi], or "
    + "the fields of a list such as [{ address: string, eta: date-epoch }]"

  func type(_ node: YAMLNode, _ title: String) -> FieldType? {
    guard case .sequence(let elements) = node.kind else { return named(node, title) }
    guard elements.count == 1, let element = elements.first else { return words(node, title) }
    if case .mapping(let pairs) = element.kind {
      return fields(pairs, element, title).map { .list(.object($0)) }
    }
    if let type = element.string.flatMap(DeclaredType.init) { return .list(type.type) }
    return words(node, title)
  }

  /// Reads the words that a field may have.
  func words(_ node: YAMLNode, _ title: String) -> FieldType? {
    let words = decode.words(node, for: title, such: "[van, taxi]").map(\.text)
    return words.isEmpty ? nil : .words(words)
  }

  private func named(_ node: YAMLNode, _ title: String) -> FieldType? {
    if let type = node.string.flatMap(DeclaredType.init) { return type.type }
    diagnostics.reportType(
      of: node, for: title, expected: Self.expected, among: DeclaredType.allCases.map(\.rawValue))
    return nil
  }

  private func fields(
    _ pairs: [YAMLNode.Pair], _ node: YAMLNode, _ title: String
  ) -> [String: CardField]? {
    if pairs.isEmpty {
      diagnostics.report(
        node.location, "\(title) has elements without fields", expected: Self.expected)
      return nil
    }
    var fields: [String: CardField] = [:]
    for pair in pairs {
      fields[pair.key] = field(pair.value, "\(title).\(shortened(pair.key))")
    }
    return fields.count == pairs.count ? fields : nil
  }

  /// Reads a field of a list's elements: its type, or `{ type: string, optional: true }`.
  private func field(_ node: YAMLNode, _ title: String) -> CardField? {
    guard case .mapping = node.kind else { return type(node, title).map { CardField($0) } }
    let fields = Fields(node, as: KeyTable.elementField, of: title, diagnostics: diagnostics)
    guard let fields, let type = fields.required("type").flatMap({ type($0.node, title) }) else {
      return nil
    }
    return CardField(type, isOptional: fields["optional"].flatMap(decode.flag) ?? false)
  }
}
