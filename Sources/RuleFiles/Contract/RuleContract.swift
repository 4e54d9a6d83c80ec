import Base
package import RideCore

/// The contract of one rule's card, with the location of each field.
package struct RuleContract: Sendable {
  package let contract: CardContract
  /// The rule's name.
  package let rule: String
  let file: String
  /// The location of each field, by the keys that lead to it; `[]` is the key of list elements, and
  /// the empty path that of the type.
  private let locations: [[String]: SourceLocation]

  /// Nil if the rule has no card.
  init?(_ rule: Rule, file: String, locations: [[String]: SourceLocation]) {
    guard case .liveActivity(let life) = rule.what else { return nil }
    contract = life.contract
    self.rule = rule.name
    self.file = file
    self.locations = locations
  }

  /// Returns the location of a field, or of the nearest one above it that the file names.
  func location(of path: [String]) -> SourceLocation? {
    var path = path
    while !path.isEmpty, locations[path] == nil { path.removeLast() }
    return locations[path]
  }

  /// Returns where a field is, as messages name it: `customer.yaml:12:9`.
  package func fileLocation(of path: [String]) -> String? {
    location(of: path).map { "\(file):\($0)" }
  }

  /// Reports rules with the same type of card and other fields: an app has one type of this name.
  ///
  /// Two apps may have a type of the same name each; but one generated file serves both.
  package static func disagreements(of contracts: [RuleContract]) -> [RuleProblem] {
    var first: [String: RuleContract] = [:]
    return contracts.flatMap { contract -> [RuleProblem] in
      let name = contract.contract.typeName
      guard let other = first[name] else {
        first[name] = contract
        return []
      }
      return contract.differences(from: other)
    }
  }

  /// Reports types that one generated file can't have: `A.Card` and `B.Card` are both `Card` in it.
  package static func sameNames(of contracts: [RuleContract]) -> [RuleProblem] {
    var first: [Substring: RuleContract] = [:]
    return contracts.compactMap { contract in
      let type = contract.contract.typeName
      guard let name = type.split(separator: ".").last else { return nil }
      guard let other = first[name] else {
        first[name] = contract
        return nil
      }
      if other.contract.typeName == type { return nil }
      let otherLocation = other.fileLocation(of: []) ?? other.file
      return RuleProblem(
        file: contract.file, location: contract.location(of: []),
        found:
          "\(shortened(type)) and \(shortened(other.contract.typeName)) of the rule \(other.rule) "
          + "(\(otherLocation)) are both \(shortened(String(name))) in the generated file",
        expected: "names whose last parts differ, or a file for each type with --rule")
    }
  }

  private func differences(from other: RuleContract) -> [RuleProblem] {
    let (own, others) = (contract.fields, other.contract.fields)
    return Set(own.keys).union(others.keys).sorted { $0.lexicographicallyPrecedes($1) }
      .flatMap { path in FieldDifference.all(own[path], others[path], path) }
      .map { difference in
        let path = difference.path
        let title = "\(FieldPath.text(path)) of \(contract.typeName)"
        let otherLocation = other.location(of: path).map { ":\($0)" } ?? ""
        let found = difference.own.map { "\(title) is \($0.summary)" } ?? "\(title) is missing"
        let expected = difference.other.map { "it is \($0.summary)" } ?? "it has no such field"
        let isMissing = difference.own == nil && path.count <= 2
        return RuleProblem(
          file: file, location: location(of: isMissing ? [] : path), found: found,
          expected:
            "the same as in the rule \(other.rule) (\(other.file)\(otherLocation)), "
            + "where \(expected); or another attributes-type")
      }
  }
}

/// A field that two rules of one type do not have alike: of objects, the members that differ.
private struct FieldDifference {
  var path: [String]
  var own, other: CardField?

  static func all(_ own: CardField?, _ other: CardField?, _ path: [String]) -> [FieldDifference] {
    if own == other { return [] }
    if let own, let other, own.isOptional == other.isOptional, own.since == other.since {
      switch (own.type, other.type) {
      case (.object(let members?), .object(let others?)):
        return Set(members.keys).union(others.keys).sorted()
          .flatMap { all(members[$0], others[$0], path + [$0]) }
      case (.list(let element?), .list(let others?)):
        return all(CardField(element), CardField(others), path + ["[]"])
      default: break
      }
    }
    return [FieldDifference(path: path, own: own, other: other)]
  }
}

/// The path of a card's field: the keys that lead to it.
enum FieldPath {
  /// The path as messages write it: `content-state.stops[].name`.
  static func text(_ path: [String]) -> String {
    path.map { shortened($0) }.joined(separator: ".").replacing(".[]", with: "[]")
  }
}

extension CardField {
  /// The field in words: `int, optional, since 2`.
  var summary: String {
    [type.summary, isOptional ? "optional" : nil, since.map { "since \($0)" }].compactMap { $0 }
      .joined(separator: ", ")
  }
}

extension FieldType {
  /// The type in words, with the elements of a list: `list of int`.
  var summary: String {
    switch self {
    case .list(let element): "list of \(element?.summary ?? "unknown elements")"
    case .object(nil): "object of unknown members"
    default: word
    }
  }
}
