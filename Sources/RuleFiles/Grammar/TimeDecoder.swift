import Base
import RideCore

/// Decodes `at`: one time or a list of times, each a base with an offset.
struct TimeDecoder {
  let diagnostics: Diagnostics
  let vocabulary: Vocabulary

  /// The bases that are not events; no event may have such a name.
  static let reserved = ["pickup_at", "contact", "attributes"]

  static let expected =
    "pickup_at, attributes.KEY, an event or contact, and how long before or after it, such as "
    + "pickup_at - 15m, driver_assigned + 2m, contact + 3m or driver_arrived + attributes.free_wait"

  /// Returns the times; nil if one of them could not be decoded.
  func times(_ field: Field) -> [RuleTime]? {
    guard case .sequence(let nodes) = field.node.kind else {
      return time(field.node, for: field.name).map { [$0] }
    }
    if nodes.isEmpty {
      diagnostics.report(
        field.node.location, "\(field.name) is an empty list", expected: "at least one entry")
    }
    var times: [RuleTime] = []
    for node in nodes {
      guard let time = time(node, for: "an entry of \(field.name)") else { continue }
      if times.contains(time) {
        diagnostics.report(
          node.location, "\(quoted(node.string ?? "")) for the second time in \(field.name)",
          expected: "it once")
      }
      times.append(time)
    }
    return times.isEmpty || times.count < nodes.count ? nil : times
  }

  private func time(_ node: YAMLNode, for key: String) -> RuleTime? {
    let words = node.string?.split(separator: " ").map(String.init) ?? []
    let isSigned = words.count == 3 && ["+", "-"].contains(words[1])
    guard words.count == 1 || isSigned, let base = base(words[0], node),
      let offset = isSigned ? offset(words[2], isBefore: words[1] == "-") : .fixed(.zero)
    else {
      // An unknown event has been reported.
      if words.count == 1 || isSigned, isEvent(words[0]), base(words[0], nil) == nil { return nil }
      diagnostics.reportType(of: node, for: key, expected: Self.expected)
      return nil
    }
    let time = RuleTime(base, by: offset)
    if case .ride(.attribute(let keys)) = base {
      diagnostics.require(.time, "at counts from it", keys, in: key, at: node.location)
    }
    if case .attribute(let keys, _) = offset {
      diagnostics.require(.number, "the seconds of an offset", keys, in: key, at: node.location)
    }
    return check(time, words, node) ? time : nil
  }

  private func isEvent(_ word: String) -> Bool {
    WordForm.event.allows(word) && !Self.reserved.contains(word)
  }

  /// - Parameter node: where an unknown event is reported; nil reports none.
  private func base(_ word: String, _ node: YAMLNode?) -> RuleTime.Base? {
    if word == "contact" { return .contact }
    if let time = RideTime(word) { return .ride(time) }
    guard isEvent(word) else { return nil }
    if vocabulary.isComplete, !vocabulary.events.contains(word) {
      if let node {
        let located = LocatedWord(text: word, location: node.location)
        _ = vocabulary.events([located], of: "at", diagnostics: diagnostics)
      }
      return nil
    }
    return .event(word)
  }

  private func offset(_ text: String, isBefore: Bool) -> RuleTime.Offset? {
    if case .attribute(let keys) = RideTime(text) { return .attribute(keys, isBefore: isBefore) }
    let duration = text == "0s" ? .zero : Duration(rideText: text)
    return duration.map { .fixed(isBefore ? .zero - $0 : $0) }
  }

  /// Reports a time that can never fire.
  private func check(_ time: RuleTime, _ words: [String], _ node: YAMLNode) -> Bool {
    if case .ride = time.base { return true }
    let isContact = time.base == .contact
    if words.count == 3, words[1] == "-" {
      diagnostics.report(
        node.location, "at is before \(isContact ? "a contact" : "an event")",
        expected: "\(words[0]) + \(words[2]): only a time of the ride is known in advance")
      return false
    }
    guard isContact, time.offset == .fixed(.zero) else { return true }
    diagnostics.report(
      node.location, "at is the contact itself",
      expected: "how long the owner may be without contact, such as contact + 3m")
    return false
  }
}
