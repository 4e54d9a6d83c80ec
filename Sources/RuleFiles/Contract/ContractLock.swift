import Base
package import RideCore
internal import SystemSupport

/// The file `contract.lock` of a rule directory: the fields that apps in the field decode.
///
/// `generate swift` writes it and `check` compares it with the rules. It is YAML with one line for
/// each field, so that a change of the contract is a line of a diff.
package struct ContractLock: Sendable {
  package static let fileName = "contract.lock"

  let file: String
  /// The contracts by the names of their types.
  package private(set) var contracts: [String: CardContract] = [:]
  /// The apps that first decoded each version of a type, as far as the file names them.
  package private(set) var releases: [String: ContractReleases] = [:]
  private var locations: [String: [[String]: SourceLocation]] = [:]

  /// Returns the path of the file of a rule directory.
  package static func path(in directory: String) -> String {
    directory.hasSuffix("/") ? directory + fileName : "\(directory)/\(fileName)"
  }

  /// Reads the file of a rule directory; nil if there is none.
  package static func load(_ directory: String) throws(RuleProblems) -> ContractLock? {
    let path = path(in: directory)
    guard RegularFile.target(of: path) != nil else { return nil }
    let bytes: [UInt8]
    do {
      bytes = try RegularFile.start(of: path, limit: RuleDirectory.fileSizeLimit + 1)
    } catch {
      throw RuleProblems(problems: [
        RuleProblem(
          file: path, location: nil, found: "the file can't be read: \(error)",
          expected: "a readable file, or none")
      ])
    }
    return try ContractLock(bytes, file: path)
  }

  /// Parses the bytes of a file.
  package init(_ bytes: [UInt8], file: String) throws(RuleProblems) {
    self.file = file
    let diagnostics = Diagnostics(file: file)
    do throws(YAMLFault) {
      let source = try SourceText(bytes)
      var builder = try YAMLTreeBuilder(source, diagnostics: diagnostics)
      if let root = try builder.document() { decode(root, diagnostics) }
    } catch {
      diagnostics.report(error.location, error.found, expected: error.expected)
    }
    if !diagnostics.problems.isEmpty {
      throw RuleProblems(problems: Set(diagnostics.problems).sorted())
    }
  }

  /// Creates a lock without contracts.
  package init() {
    file = Self.fileName
  }

  /// Records contracts in the place of those of the same types.
  package mutating func record(_ contracts: [CardContract]) {
    for contract in contracts { self.contracts[contract.typeName] = contract }
  }

  func location(of path: [String], in type: String) -> SourceLocation? {
    var path = path
    while !path.isEmpty, locations[type]?[path] == nil { path.removeLast() }
    return locations[type]?[path]
  }

  private mutating func decode(_ root: YAMLNode, _ diagnostics: Diagnostics) {
    guard case .mapping(let pairs) = root.kind else {
      diagnostics.reportType(
        of: root, for: Self.fileName, expected: "a mapping of attributes-type to its fields")
      return
    }
    for pair in pairs {
      guard
        let fields = Fields(
          pair.value, as: ContractForm.type, of: shortened(pair.key), diagnostics: diagnostics)
      else { continue }
      var decoder = LockedFieldDecoder(diagnostics: diagnostics)
      contracts[pair.key] = decoder.contract(fields, named: pair.key)
      releases[pair.key] = decoder.releases
      locations[pair.key] = decoder.locations
      locations[pair.key]?[[]] = pair.keyLocation
    }
  }
}

/// The keys of `contract.lock`.
private enum ContractForm {
  static let types = DeclaredType.allCases.map(\.rawValue) + ["state", "unknown"]

  static let type = MappingForm("an attributes-type") { fields in
    var decoder = LockedFieldDecoder(diagnostics: .unused)
    return decoder.contract(fields, named: "")
  }
  static let field = MappingForm("a field") { fields in
    var decoder = LockedFieldDecoder(diagnostics: .unused)
    return decoder.field(fields, [])
  }
}

/// Decodes the fields of `contract.lock`.
private struct LockedFieldDecoder {
  let diagnostics: Diagnostics
  private(set) var locations: [[String]: SourceLocation] = [:]
  private(set) var releases: ContractReleases?

  mutating func contract(_ fields: Fields, named name: String) -> CardContract {
    var contract = CardContract(typeName: name)
    contract.attributes = part("attributes", fields)
    contract.contentState = part("content-state", fields)
    releases = fields.value("releases", .later(.payload())).map {
      ReleaseDecoder(diagnostics: diagnostics)
        .releases($0.node, known: Set(contract.laterFields.keys))
    }
    return contract
  }

  private mutating func part(_ name: String, _ fields: Fields) -> [String: CardField] {
    fields.value(name, .later(.payload())).map { self.fields($0.node, [name]) } ?? [:]
  }

  mutating func fields(_ node: YAMLNode, _ path: [String]) -> [String: CardField] {
    guard case .mapping(let pairs) = node.kind else {
      diagnostics.reportType(
        of: node, for: FieldPath.text(path), expected: "a mapping of field to type")
      return [:]
    }
    var fields: [String: CardField] = [:]
    for pair in pairs {
      locations[path + [pair.key]] = pair.keyLocation
      fields[pair.key] = field(pair.value, path + [pair.key])
    }
    return fields
  }

  private mutating func field(_ node: YAMLNode, _ path: [String]) -> CardField? {
    let title = FieldPath.text(path)
    guard case .mapping = node.kind else { return type(node, title).map { CardField($0) } }
    return Fields(node, as: ContractForm.field, of: title, diagnostics: diagnostics)
      .flatMap { field($0, path) }
  }

  mutating func field(_ fields: Fields, _ path: [String]) -> CardField? {
    let word = fields.value(
      "type", .later(.fieldType), required: "type: string, or another type")
    let isOptional = fields.value("optional", .flag) ?? false
    let since = fields.value("since", .integer(1...1000))
    let elements = fields.value("elements", .later(.payload()))
    let members = fields.value("members", .later(.payload()))
    guard let word, var type = type(word.node, FieldPath.text(path)) else { return nil }
    if case .list = type, let elements {
      type = .list(field(elements.node, path + ["[]"])?.type)
    }
    if case .object = type, let members { type = .object(self.fields(members.node, path)) }
    return CardField(type, isOptional: isOptional, since: since)
  }

  private func type(_ node: YAMLNode, _ title: String) -> FieldType? {
    if case .sequence = node.kind {
      return FieldTypeDecoder(diagnostics: diagnostics).words(node, title)
    }
    if let type = node.string.flatMap(DeclaredType.init(rawValue:)) { return type.type }
    switch node.string {
    case "state": return .state
    case "unknown": return .unknown
    default:
      diagnostics.reportType(
        of: node, for: title, expected: alternatives(ContractForm.types),
        among: ContractForm.types)
      return nil
    }
  }
}

extension ContractLock {
  /// The file's content: sorted, so that equal contracts have equal bytes.
  package var text: String {
    var lines = [
      "# What apps in the field decode. `ridepulse generate swift` writes this file and `ridepulse check`",
      "# compares the rules with it: commit it with them. docs/app.md has more.",
    ]
    for (name, contract) in contracts.sorted(by: { $0.key < $1.key }) {
      lines.append("\(Self.key(name)):")
      lines += releases[name]?.lines ?? []
      let parts = [("attributes", contract.attributes), ("content-state", contract.contentState)]
      for (part, fields) in parts {
        lines.append("  \(part):\(fields.isEmpty ? " {}" : "")")
        lines += Self.lines(fields, indent: "    ")
      }
    }
    return lines.joined(separator: "\n") + "\n"
  }

  private static func lines(_ fields: [String: CardField], indent: String) -> [String] {
    fields.sorted { $0.key < $1.key }.flatMap { key, field in
      lines(field, after: "\(indent)\(self.key(key)):", indent: indent + "  ")
    }
  }

  private static func lines(_ field: CardField, after key: String, indent: String) -> [String] {
    var word = field.type.word
    if case .words(let words) = field.type {
      word = "[\(words.map { self.key($0) }.joined(separator: ", "))]"
    }
    var parts = ["type: \(word)"]
    if field.isOptional { parts.append("optional: true") }
    if let since = field.since { parts.append("since: \(since)") }
    switch field.type {
    case .object(let members?) where !members.isEmpty:
      return [key] + parts.map { indent + $0 } + ["\(indent)members:"]
        + lines(members, indent: indent + "  ")
    case .object(.some): return [key] + parts.map { indent + $0 } + ["\(indent)members: {}"]
    case .list(let element?):
      return [key] + parts.map { indent + $0 }
        + lines(CardField(element), after: "\(indent)elements:", indent: indent + "  ")
    default:
      let value = parts.count == 1 ? word : "{ \(parts.joined(separator: ", ")) }"
      return ["\(key) \(value)"]
    }
  }

  /// Returns a key as YAML; in quotes if it could be anything but a word.
  private static func key(_ key: String) -> String {
    let isWord =
      key.first.map { $0.isASCII && $0.isLetter || $0 == "_" } ?? false
      && key.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_" || $0 == "-") }
    if isWord, CoreSchema.value(of: key) == .string(key) { return key }
    return String(decoding: JSONValue.string(key).json, as: UTF8.self)
  }
}
