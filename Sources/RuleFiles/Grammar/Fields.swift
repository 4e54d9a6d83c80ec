import Base
import RideCore

/// A mapping whose keys the key table defines, or the decoder that asks for them.
struct Fields {
  let form: MappingForm
  let location: SourceLocation
  private let pairs: [YAMLNode.Pair]
  /// The known keys that unknown keys were probably meant to be: these do not count as missing.
  private let meant: Set<String>
  private let diagnostics: Diagnostics
  /// The keys that were asked for; nil if a mapping is read.
  private let asked: AskedKeys?

  /// A mapping that is absent.
  ///
  /// - Parameter asked: collects the keys that a decoder asks for.
  init(_ form: MappingForm, asked: AskedKeys? = nil) {
    self.form = form
    self.asked = asked
    pairs = []
    meant = []
    diagnostics = .unused
    location = SourceLocation(line: 1, column: 1)
  }

  /// Whether there is no mapping, and a decoder only lists the keys.
  var listsKeys: Bool { asked != nil }

  /// Reads a mapping and reports every unknown key in it.
  ///
  /// - Parameters:
  ///   - subject: what messages call the mapping, if not as in the key table.
  ///   - elsewhere: keys that belong into another mapping, each with what to write instead.
  init?(
    _ node: YAMLNode, as form: MappingForm, of subject: String? = nil,
    elsewhere: [String: String] = [:], diagnostics: Diagnostics
  ) {
    let subject = subject ?? form.subject
    let listed = form.names.joined(separator: ", ")
    guard case .mapping(let pairs) = node.kind else {
      diagnostics.reportType(of: node, for: subject, expected: "a mapping (keys: \(listed))")
      return nil
    }
    self.form = form
    self.pairs = pairs
    self.diagnostics = diagnostics
    asked = nil
    location = node.location
    let known = form.names
    let unknown = pairs.filter { !known.contains($0.key) }
    meant = Set(unknown.compactMap { nearestWord(to: $0.key, among: known) })
    for pair in unknown {
      let found = "unknown key \(quoted(pair.key)) in \(subject)"
      if let right = elsewhere[pair.key] {
        diagnostics.report(pair.keyLocation, found, expected: right)
      } else {
        diagnostics.report(
          pair.keyLocation, found, expected: "one of \(listed)", word: pair.key, among: known)
      }
    }
  }

  /// The keys that are present, in the order of the file.
  var keys: [String] { pairs.map(\.key) }

  /// Whether every key is known and none occurs twice, so that nothing is left out.
  var isWhole: Bool {
    let known = form.names
    return pairs.allSatisfy { known.contains($0.key) && !$0.isRepeated }
  }

  /// The rule in messages, with its name if it has one.
  private var title: String {
    self["name"]?.node.string.map { "the rule \(quoted($0))" } ?? "a rule"
  }

  subscript(name: String) -> Field? {
    guard let key = form[name], let pair = pairs.first(where: { $0.key == name }) else {
      return nil
    }
    return Field(
      key: key, location: pair.keyLocation, node: pair.value, diagnostics: diagnostics)
  }

  /// Asks for a key, which thereby is one of the mapping, and reads its value; reports a required one
  /// that is missing.
  func value<Value>(
    _ name: String, _ type: ValueType<Value>, required: String? = nil, nextTo: [String] = [],
    excludedBy: [String] = [], otherwise: String = ""
  ) -> Value? {
    if let asked {
      asked.add(
        Key(
          name, type.form, "", required: required, nextTo: nextTo, excludedBy: excludedBy,
          otherwise: otherwise))
      return nil
    }
    return (required == nil ? self[name] : self.required(name)).flatMap(type.read)
  }

  /// Returns whether an unknown key, which was reported, was probably meant to be this one.
  func isMisspelt(_ name: String) -> Bool { meant.contains(name) }

  /// Returns the location of a key, or of the mapping if it has no such key.
  func location(of name: String) -> SourceLocation {
    pairs.first { $0.key == name }?.keyLocation ?? location
  }

  /// Returns the fields with these names that are present, in the order of the file.
  func present(_ names: [String]) -> [Field] {
    keys.filter(names.contains).compactMap { self[$0] }
  }

  /// Returns a required key; reports it if it is missing.
  func required(_ name: String) -> Field? {
    if let field = self[name] { return field }
    if !meant.contains(name), let expected = form[name]?.required {
      let isRule = form.subject == KeyTable.rule.subject
      diagnostics.report(
        location, isRule ? "\(title) has no \(name)" : "\(form.subject) without \(name)",
        expected: expected)
    }
    return nil
  }

  /// Returns the key that another key needs; reports it if it is missing.
  func partner(of field: Field) -> Field? {
    guard let (name, why) = field.key.partner else { return nil }
    if let partner = self[name] { return partner }
    if !meant.contains(name) {
      diagnostics.report(
        field.location, "\(field.name) without \(name)", expected: "\(name) next to it: \(why)")
    }
    return nil
  }

  /// Returns the only key of a group; reports a problem if there is none, or more than one.
  ///
  /// - Parameter misplaced: misplaced keys that were already reported, one of which is probably
  ///   meant to be in the group.
  func single(
    of group: [String], lack: String, expected: String, misplaced: [String] = []
  ) -> Field? {
    let present = present(group)
    guard let first = present.first else {
      guard meant.isDisjoint(with: group), !keys.contains(where: misplaced.contains) else {
        return nil
      }
      diagnostics.report(location, "\(title) does not define \(lack)", expected: expected)
      return nil
    }
    for second in present.dropFirst() {
      diagnostics.report(
        second.location,
        "\(quoted(second.name)) in a rule that has \(quoted(first.name)) at \(first.location)",
        expected: "one of the two; the other in a rule of its own")
    }
    return present.count == 1 ? first : nil
  }

  /// Reports an alert with none of the keys that show something.
  ///
  /// - Parameter other: what would show something instead of one of the keys.
  func requireShown(_ names: [String], or other: String? = nil) {
    // A misspelt key was already reported, and may be the missing one.
    if present(names).isEmpty, keys.allSatisfy(form.names.contains) {
      diagnostics.report(
        location, "an alert that shows nothing",
        expected: "at least one of \(names.joined(separator: ", "))"
          + (other.map { ", or \($0)" } ?? ""))
    }
  }

  /// Reports a key that has no meaning in this mapping.
  func reportMisplaced(_ field: Field, _ found: String, expected: String? = nil) {
    diagnostics.report(
      field.location, "\(quoted(field.name)) \(found)", expected: expected ?? field.key.otherwise)
  }
}
