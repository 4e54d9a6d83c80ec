package import Base
package import RideCore

/// What was found when a card's contract was compared with the app's own struct.
package struct ContractFinding: Hashable, Sendable, CustomStringConvertible {
  package enum Kind: Hashable, Sendable {
    /// The app can't decode what the rule sends.
    case problem
    /// It can, and something is probably not as intended.
    case warning
    /// It could not be found out.
    case unchecked
  }

  package var kind: Kind
  /// `FILE:LINE:COLUMN` in the app's source, or `FILE` if the contract has no struct there.
  package var location: String
  /// The same for programs; nil if the contract has no struct there.
  package var fileLocation: FileLocation?
  package var text: String

  package var description: String {
    switch kind {
    case .problem: Escape.line("\(location): \(text)")
    case .warning: Escape.line("\(location): warning: \(text)")
    case .unchecked: Escape.line("\(location): not checked: \(text)")
    }
  }
}

/// Compares a card's contract with the struct that an app declares by hand.
///
/// iOS drops a card's update without an error if the struct can't decode it, and APNs answers 200.
package struct ContractComparison {
  private let sources: SwiftSources
  /// The states of rides, which a field of type `state` may have.
  private let states: Set<String>
  /// Where the rule is: `schedules/customer.yaml:12`.
  private let rule: String
  private let fileLocation: ([String]) -> String?
  package private(set) var findings: [ContractFinding] = []
  /// Whether the card's content was compared: the files declare its struct, and it can be read.
  package private(set) var isCompared = false

  /// A struct that holds itself would never end.
  private static let depthLimit = 16

  /// - Parameters:
  ///   - fileLocation: Returns where a field is in the rule files, by the keys that lead to it;
  ///     nil if that is not known.
  ///   - startsByPush: Whether the rule starts the card, which sends its attributes.
  package init(
    _ contract: CardContract, rule: String,
    fileLocation: @escaping ([String]) -> String? = { _ in nil }, states: Set<String>,
    startsByPush: Bool, with sources: SwiftSources
  ) {
    (self.sources, self.states, self.rule) = (sources, states, rule)
    self.fileLocation = fileLocation
    guard let type = sources.attributesType(contract.typeName) else {
      report(
        .unchecked, nil,
        "no struct \(contract.typeName), which \(rule) names"
          + suggestion(for: contract.typeName, among: sources.structs))
      return
    }
    if startsByPush { compare(contract.attributes, ["attributes"], with: type, depth: 0) }
    switch sources.decoding(of: .named(["ContentState"], []), in: type.path) {
    case .structure(let state):
      compare(contract.contentState, ["content-state"], with: state, depth: 0)
    case .unreadable(let why):
      let state = sources.type(["ContentState"], in: type.path)
      report(.unchecked, state?.obstacle ?? type.position, "content-state is \(why)")
    default: report(.problem, type.position, "ContentState is not a struct: a card's is an object")
    }
  }

  /// Returns a field as messages name it: `content-state.stops[].name`, and where it is.
  private func name(_ path: [String]) -> (text: String, location: String) {
    (path.joined(separator: ".").replacing(".[]", with: "[]"), fileLocation(path) ?? rule)
  }

  private mutating func report(
    _ kind: ContractFinding.Kind, _ position: SwiftSources.Position?, _ text: String
  ) {
    let location = position.map { FileLocation(sources.file($0), sources.location($0)) }
    findings.append(
      ContractFinding(
        kind: kind, location: location?.description ?? sources.fileNames, fileLocation: location,
        text: text))
  }

  /// Compares the fields of an object, whose path in the rule is `path`, with a struct.
  private mutating func compare(
    _ fields: [String: CardField], _ path: [String], with type: SwiftSources.DeclaredType,
    depth: Int
  ) {
    guard depth < Self.depthLimit else {
      return report(.unchecked, type.position, "\(type.name) is nested too deeply")
    }
    if case .unreadable(let why) = sources.decoding(of: .named(type.path, []), in: []) {
      return report(.unchecked, type.obstacle, "\(name(path).text) is \(why)")
    }
    guard let keys = keys(of: type, path) else { return }
    if path == ["content-state"] { isCompared = true }
    for property in type.properties {
      guard let key = keys[property.name] else { continue }
      let position = SwiftSources.Position(file: type.position.file, offset: property.offset)
      if let obstacle = property.obstacle {
        report(
          .unchecked, position,
          "\(property.name) has \(obstacle): what it decodes is not known")
      } else if let name = property.type {
        let found = Property(
          key: key, declared: property, type: name, position: position, scope: type.path)
        compare(fields[key], path + [key], with: found, depth: depth)
      } else {
        report(.unchecked, position, "the type of \(property.name) is not stated")
      }
    }
    let known = keys.values.sorted()
    for key in fields.keys.sorted() where !known.contains(key) {
      let field = name(path + [key])
      report(
        .warning, type.position,
        "\(type.name) has no property for \(field.text) of \(field.location): the app ignores it"
          + suggestion(for: key.filter { $0 != "_" }, among: known))
    }
  }

  /// Returns the JSON key of each property that is decoded; nil if they can't be read.
  private mutating func keys(
    of type: SwiftSources.DeclaredType, _ path: [String]
  ) -> [String: String]? {
    let own = Dictionary(type.properties.map { ($0.name, $0.name) }) { first, _ in first }
    guard let declared = sources.types["\(type.name).CodingKeys"] else { return own }
    let decoding = sources.codingKeys(declared)
    guard case .words(let words) = decoding else {
      var reason = "no enum of texts"
      if case .unreadable(let why) = decoding { reason = why }
      report(.unchecked, declared.position, "\(name(path).text): CodingKeys is \(reason)")
      return nil
    }
    let names = declared.cases.map(\.name)
    return Dictionary(zip(names, words)) { first, _ in first }.filter { own[$0.key] != nil }
  }
}

// One field.
extension ContractComparison {
  /// A property, and where its type is looked up.
  private struct Property {
    var key: String
    var declared: SwiftProperty
    var type: SwiftTypeName
    var position: SwiftSources.Position
    var scope: [String]

    var text: String { "\(declared.name): \(type.text)" }
  }

  private mutating func compare(
    _ field: CardField?, _ path: [String], with property: Property, depth: Int
  ) {
    let sent = name(path)
    let isOptional = sources.resolved(property.type, in: property.scope).isOptional
    guard let field else {
      if isOptional { return }
      let value = property.declared.hasValue ? ", and decoding does not use its value" : ""
      return report(
        .problem, property.position,
        "the app needs \(sent.text), which \(rule) does not send\(value); make it optional, "
          + "\(property.text)?, or add it to the rule")
    }
    if field.isOptional, !isOptional {
      report(
        .problem, property.position,
        "\(sent.text) of \(sent.location) may be null, and \(property.text) is not optional; write "
          + "\(property.text)?")
    } else if let since = field.since, since > 1, !isOptional {
      report(
        .warning, property.position,
        "\(sent.text) of \(sent.location) is sent since version \(since), and a card that began "
          + "before lacks it; write \(property.text)?")
    }
    compare(field.type, path, with: property, depth: depth)
  }

  private mutating func compare(
    _ type: FieldType, _ path: [String], with property: Property, depth: Int
  ) {
    let decoding = sources.decoding(of: property.type, in: property.scope)
    if case .unreadable(let why) = decoding {
      return report(.unchecked, property.position, "\(property.text) is \(why)")
    }
    switch (type, decoding) {
    case (_, .anything): break
    case (.unknown, _):
      report(
        .unchecked, property.position,
        "the type of \(name(path).text) is not known: state it at \(name(path).location), "
          + "\(property.key): { value: …, type: … }")
    case (.list(let element?), .list(let name)):
      var inner = property
      (inner.type, inner.key) = (name, "\(property.key)[]")
      compare(CardField(element), path + ["[]"], with: inner, depth: depth + 1)
    case (.list(nil), .list(let name)) where decodesAnything(name, property),
      (.object(nil), .map(let name)) where decodesAnything(name, property):
      break
    case (.list(nil), .list), (.object(nil), .structure), (.object(nil), .map):
      report(
        .unchecked, property.position,
        "\(name(path).location) does not state what \(name(path).text) holds")
    case (.object(let fields?), .structure(let inner)):
      compare(fields, path, with: inner, depth: depth + 1)
    case (.object(let fields?), .map(let value)):
      for (key, field) in fields.sorted(by: { $0.key < $1.key }) {
        var inner = property
        (inner.type, inner.key) = (value, key)
        compare(field, path + [key], with: inner, depth: depth + 1)
      }
    default: compareValue(type, path, decoding, property)
    }
  }

  private func decodesAnything(_ type: SwiftTypeName, _ property: Property) -> Bool {
    if case .anything = sources.decoding(of: type, in: property.scope) { true } else { false }
  }

  /// Compares a field that is neither a list nor an object.
  private mutating func compareValue(
    _ type: FieldType, _ path: [String], _ decoding: SwiftDecoding, _ property: Property
  ) {
    let sent = "\(name(path).text) of \(name(path).location) is \(type.phrase)"
    switch (type, decoding) {
    case (.string, .string), (.state, .string), (.words, .string), (.bool, .bool),
      (.double, .double),
      (.int, .double), (.dateEpoch, .double), (.int, .int(nil)), (.dateEpoch, .int(nil)):
      break
    case (.int, .int(let limit?)), (.dateEpoch, .int(let limit?)):
      report(
        .warning, property.position,
        "\(sent), and \(property.text) decodes \(limit) only; write Int")
    case (.string, .formatted(let form)):
      report(
        .warning, property.position,
        "\(sent), and \(property.text) decodes only \(form): any other text drops the update")
    case (.state, .words(let words)): compareWords(states, words, sent, property)
    case (.words(let sentWords), .words(let words)):
      compareWords(Set(sentWords), words, sent, property)
    case (.string, .words), (.int, .numbers):
      report(
        .warning, property.position,
        "\(sent), and a value that is not a case of \(property.type.text) drops the update; "
          + "add a case unknown and an init(from:) that falls back to it")
    case (.dateEpoch, .date):
      report(
        .problem, property.position,
        "\(sent) since 1970, and Date decodes seconds since 2001: it shows a time 31 years later; "
          + "declare it Int, and convert it with Date(timeIntervalSince1970:)")
    case (.int, .date), (.double, .date):
      report(
        .warning, property.position,
        "\(sent), and Date decodes it as seconds since 2001; a time in seconds since 1970 shows "
          + "31 years later")
    case (.double, .int):
      report(
        .problem, property.position,
        "\(sent), and \(property.text) can't decode a fraction; declare it Double, or state "
          + "type: int in the rule")
    default:
      report(
        .problem, property.position,
        "\(sent), and \(property.text) can't decode it; declare it \(type.swiftName), or state "
          + "another type in the rule")
    }
  }

  /// - Parameter values: The words that are sent.
  private mutating func compareWords(
    _ values: Set<String>, _ words: [String], _ sent: String, _ property: Property
  ) {
    let missing = values.subtracting(words).sorted()
    if missing.isEmpty { return }
    let others = words.filter { !values.contains($0) }
    let list = missing.map { value in
      value + (nearestWord(to: value, among: others).map { " (nearest is \($0))" } ?? "")
    }
    report(
      .problem, property.position,
      "\(sent), and \(property.type.text) has no case for \(list.joined(separator: ", ")): such an "
        + "update is dropped; add the cases, or a case unknown with an init(from:) that falls back to it"
    )
  }
}
