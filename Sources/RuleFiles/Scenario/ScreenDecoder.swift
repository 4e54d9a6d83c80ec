import Base
import RideCore
import Timeline

/// Decodes what a test expects on the screens of its phones.
struct ScreenDecoder {
  let diagnostics: Diagnostics
  let test: RuleTest

  /// Returns the screens of an entry of `then`, in the order of the file.
  func screens(_ field: Field, at time: Field?) -> [ExpectedScreen] {
    guard let time, let at = ValueType.time(from: test.scenario.start).read(time) else { return [] }
    if let length = test.scenario.length, at > test.scenario.start + length {
      diagnostics.report(
        time.node.location, "\(test.offset(at)), after the end of the test",
        expected: "at most \(length.rideText), as for has it")
    }
    guard case .mapping(let pairs) = field.node.kind, !pairs.isEmpty else {
      diagnostics.reportType(
        of: field.node, for: field.name,
        expected: "a mapping of a phone's name to what it shows")
      return []
    }
    return pairs.compactMap { screen($0, at) }
  }

  private func screen(_ pair: YAMLNode.Pair, _ at: Timestamp) -> ExpectedScreen? {
    let known = test.scenario.phones.compactMap(\.name)
    guard known.contains(pair.key) else {
      diagnostics.report(
        pair.keyLocation, "screen names the unknown phone \(quoted(pair.key))",
        expected: known.isEmpty ? "a phone under given that has a name" : alternatives(known),
        word: pair.key, among: known)
      return nil
    }
    guard
      let fields = Fields(
        pair.value, as: RuleTestKeys.screen, of: "the screen of \(pair.key)",
        diagnostics: diagnostics)
    else { return nil }
    var screen = ExpectedScreen(location: pair.keyLocation, at: at, phone: pair.key)
    add(fields, to: &screen)
    if screen.badge != nil, test.scenario.isAndroid(pair.key) {
      diagnostics.report(
        fields.location(of: "badge"), "badge of \(pair.key), an Android phone",
        expected: "the screen without it: what Android shows on an icon is the launcher's own")
    }
    if fields.keys.isEmpty {
      diagnostics.report(
        fields.location, "a screen without a key",
        expected: "at least one of \(fields.form.names.joined(separator: ", "))")
    }
    return screen
  }

  func add(_ fields: Fields, to screen: inout ExpectedScreen) {
    screen.notifications = fields.value("notifications", Self.texts)
    screen.card = fields.value("card", Self.card)
    screen.badge = fields.value("badge", .integer(0...1_000_000))
    for attention in Attention.allCases.reversed() {
      screen.counts[attention] = fields.value(attention.rawValue, .integer(0...1_000_000))
    }
  }

  private static var texts: ValueType<[String]> {
    ValueType(.texts) { field in
      guard case .sequence(let nodes) = field.node.kind else {
        return field.refused("a list of texts")
      }
      return nodes.compactMap { node in
        ValueType.plainText.read(
          Field(
            key: field.key, location: node.location, node: node, diagnostics: field.diagnostics))
      }
    }
  }

  private static var card: ValueType<ExpectedScreen.Card> {
    ValueType(.payload()) { field in
      if field.node.string == "none" { return .absent }
      guard case .object(var members)? = field.node.json else {
        return field.refused("none, or a mapping of fields to values")
      }
      guard let stale = members.removeValue(forKey: "stale") else {
        return .fields(members, isStale: nil)
      }
      if case .bool(let isStale) = stale { return .fields(members, isStale: isStale) }
      field.diagnostics.report(
        field.location, "stale of the card is \(quoted(stale.text))", expected: "true or false")
      return nil
    }
  }
}

extension Scenario {
  fileprivate func isAndroid(_ phone: String) -> Bool {
    phones.contains { $0.name == phone && $0.platform == .android }
  }
}
