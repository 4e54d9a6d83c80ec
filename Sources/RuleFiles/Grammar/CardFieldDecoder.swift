import Base
internal import RideCore

/// Decodes the fields of a card, under `content-state` and `attributes`.
///
/// A mapping with the key `value` is a typed field; in any other, the members are fields in turn.
struct CardFieldDecoder: FileDecoder {
  let diagnostics: Diagnostics
  /// The location of each field, by the keys that lead to it; `[]` is the key of list elements.
  private(set) var locations: [[String]: SourceLocation] = [:]

  mutating func fields(_ field: Field) -> [String: PayloadTemplate]? {
    guard case .mapping(let pairs) = field.node.kind else {
      return field.refused("a mapping such as { status: \"{{ride.state}}\" }")
    }
    return members(pairs, [field.name], field.name)
  }

  /// - Parameter title: the path of the mapping as messages write it.
  private mutating func members(
    _ pairs: [YAMLNode.Pair], _ path: [String], _ title: String
  ) -> [String: PayloadTemplate] {
    var members: [String: PayloadTemplate] = [:]
    for pair in pairs {
      templates.checkKey(pair, of: title)
      let path = path + [pair.key]
      locations[path] = locations[path] ?? pair.keyLocation
      members[pair.key] = value(pair.value, path, "\(title).\(shortened(pair.key))")
    }
    return members
  }

  /// Reads what one field of `content-state` shows in its place, as the field's type.
  ///
  /// - Parameters:
  ///   - field: the field of `content-state`.
  ///   - states: the values of type `state`; nil if they are not known.
  mutating func replacement(
    _ node: YAMLNode, of field: CardField, _ title: String, states: Set<String>?
  ) -> PayloadTemplate? {
    let value =
      if case .mapping = node.kind, field.type == .string {
        templates.localizedText(node, for: title).map { PayloadTemplate.visible($0) }
      } else {
        templates.value(node, of: title)
      }
    guard let value else { return nil }
    if value == .literal(.null), !field.isOptional {
      diagnostics.report(
        node.location, "\(title) is null, and the field is not optional",
        expected: "a value of the type \(field.type.word)")
    }
    if states != nil || field.type != .state {
      check(value, field.type, title, at: node.location, states: states ?? [])
    }
    return .field(value, field)
  }

  private mutating func value(
    _ node: YAMLNode, _ path: [String], _ title: String
  ) -> PayloadTemplate? {
    if case .mapping(let pairs) = node.kind {
      if pairs.contains(where: { $0.key == "value" }) { return typed(node, path, title) }
      return .object(members(pairs, path, title))
    }
    return plain(node, path, title)
  }

  /// Reads a value that is not a mapping.
  private mutating func plain(
    _ node: YAMLNode, _ path: [String], _ title: String
  ) -> PayloadTemplate? {
    guard case .sequence(let elements) = node.kind else { return templates.value(node, of: title) }
    var values: [PayloadTemplate] = []
    for (index, element) in elements.enumerated() {
      if let value = value(element, path + ["[]"], "\(title)[\(index)]") { values.append(value) }
    }
    return .array(values)
  }

  private mutating func typed(
    _ node: YAMLNode, _ path: [String], _ title: String
  ) -> PayloadTemplate? {
    let fields = Fields(node, as: KeyTable.cardField, of: title, diagnostics: diagnostics)
    guard let fields, let content = fields["value"] else { return nil }
    let type = fields["type"].flatMap {
      FieldTypeDecoder(diagnostics: diagnostics).type($0.node, $0.name)
    }
    let isOptional = fields["optional"].flatMap(decode.flag) ?? false
    let since = fields["since"].flatMap(decode.integer)
    let value = self.content(content.node, type, path, title)
    guard let value, type != nil || fields["type"] == nil else { return nil }
    var field = value.cardField
    if let type { check(value, type, title, at: content.node.location) }
    switch (type, value) {
    // The template determines members and elements.
    case (nil, _), (.object, .object), (.list, .array): break
    case (let type?, _): field.type = type
    }
    field.isOptional = field.isOptional || isOptional
    field.since = since
    return .field(value, field)
  }

  private mutating func content(
    _ node: YAMLNode, _ type: FieldType?, _ path: [String], _ title: String
  ) -> PayloadTemplate? {
    guard case .mapping(let pairs) = node.kind else { return plain(node, path, title) }
    if type == .string {
      return templates.localizedText(node, for: title).map { .visible($0) }
    }
    return .object(members(pairs, path, title))
  }

  /// Reports a value that can never be of the declared type.
  ///
  /// - Parameter states: the values of type `state`.
  func check(
    _ value: PayloadTemplate, _ type: FieldType, _ title: String, at location: SourceLocation,
    states: Set<String> = []
  ) {
    let expected = "a value of the type \(type.word), or another type"
    func report(_ found: String) { diagnostics.report(location, found, expected: expected) }
    switch value {
    case .field: return
    case .visible:
      if type != .string { report("\(title) is a text, its type is \(type.word)") }
    case .array where type.hasElements:
      report("\(title) is a list that states its elements, and its type states theirs, too")
    case .object, .array:
      if !type.canHold(value.cardField.type) {
        report(
          "\(title) is \(value.isList ? "a list" : "a mapping"), its type is \(type.word)")
      }
    case .literal(let constant):
      if constant != .null, type.converted(constant, states: states) == nil {
        report("\(title) is \(constant.described), its type is \(type.word)")
      }
    case .value(let text):
      let (inferred, isCertain) = text.inferred
      if let literal = text.literalText {
        check(.literal(.string(literal)), type, title, at: location, states: states)
      } else if let declared = text.solePlaceholder?.declared, !type.canHold(inferred) {
        report("\(title) is declared as \(declared.word), its type is \(type.word)")
      } else if isCertain, !type.canHold(inferred) {
        report("\(title) is always of the type \(inferred.word), its type is \(type.word)")
      } else if let constant = text.solePlaceholder?.finalDefaults.first(where: {
        type.converted($0, states: states) == nil
      }) {
        report("the default of \(title) is \(constant.described), its type is \(type.word)")
      }
    }
  }
}

/// The types that a rule file can declare for a field of a card.
enum DeclaredType: String, CaseIterable {
  case string, int, double, bool
  case dateEpoch = "date-epoch"
  case list, object

  var type: FieldType {
    switch self {
    case .string: .string
    case .int: .int
    case .double: .double
    case .bool: .bool
    case .dateEpoch: .dateEpoch
    case .list: .list(nil)
    case .object: .object(nil)
    }
  }
}

extension FieldType {
  /// Whether it is a list that states its elements.
  fileprivate var hasElements: Bool { if case .list(.some) = self { true } else { false } }
}

extension PayloadTemplate {
  fileprivate var isList: Bool { if case .array = self { true } else { false } }

  /// Whether phones with different locales may receive different texts.
  var isLocalized: Bool {
    switch self {
    case .literal, .value: false
    case .visible(let texts): texts.texts.count > 1
    case .object(let members): members.values.contains(where: \.isLocalized)
    case .array(let elements): elements.contains(where: \.isLocalized)
    case .field(let value, _): value.isLocalized
    }
  }
}
