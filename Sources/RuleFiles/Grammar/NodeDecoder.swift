import Base
import Foundation
import RideCore

/// A word of a file and its location.
struct LocatedWord {
  let text: String
  let location: SourceLocation
}

/// A decoder that reports to the problems of one file.
protocol FileDecoder {
  var diagnostics: Diagnostics { get }
}

extension FileDecoder {
  var decode: NodeDecoder { NodeDecoder(diagnostics: diagnostics) }
  var templates: TemplateDecoder { TemplateDecoder(diagnostics: diagnostics) }
}

/// Reads words, flags, numbers and durations; a value that does not fit is reported.
struct NodeDecoder {
  let diagnostics: Diagnostics

  func word(_ field: Field) -> LocatedWord? {
    guard case .word(let form) = field.key.form else { return nil }
    return word(field.node, for: field.name, form: form)
  }

  func word(_ node: YAMLNode, for key: String, form: WordForm) -> LocatedWord? {
    guard let text = node.string, form.allows(text) else {
      let repaired = node.string.flatMap(form.repaired)
      diagnostics.reportType(of: node, for: key, expected: form.rule, nearest: repaired)
      return nil
    }
    return LocatedWord(text: text, location: node.location)
  }

  /// Reads a list of distinct words; wrong or repeated ones are reported and left out.
  func words(
    _ node: YAMLNode, for key: String, form: WordForm = .event,
    such example: String = "[driver_assigned, ride_started]"
  ) -> [LocatedWord] {
    guard case .sequence(let elements) = node.kind else {
      diagnostics.reportType(of: node, for: key, expected: "a list such as \(example)")
      return []
    }
    if elements.isEmpty {
      diagnostics.report(node.location, "\(key) is an empty list", expected: "at least one entry")
    }
    var first: [String: SourceLocation] = [:]
    return elements.compactMap { element in
      guard let word = word(element, for: "an entry of \(key)", form: form) else { return nil }
      guard let location = first.updateValue(word.location, forKey: word.text) else { return word }
      first[word.text] = location
      diagnostics.report(
        word.location, "\(quoted(word.text)) for the second time in \(key)",
        expected: "it once (the first is at line \(location.line))")
      return nil
    }
  }

  /// Reads one word of the key's own form, or a list of distinct ones.
  func oneOrMore(_ field: Field) -> [LocatedWord] {
    guard case .oneOrMore(let form, let example) = field.key.form else { return [] }
    switch field.node.kind {
    case .sequence: return words(field.node, for: field.name, form: form, such: example)
    default: return word(field.node, for: field.name, form: form).map { [$0] } ?? []
    }
  }

  func oneOrMoreWords(_ field: Field) -> [LocatedWord] {
    switch field.node.kind {
    case .sequence: return words(field.node, for: field.name)
    case .mapping:
      diagnostics.reportType(
        of: field.node, for: field.name,
        expected: "an event such as driver_arrived, or a list of events")
      return []
    default: return word(field.node, for: field.name, form: .event).map { [$0] } ?? []
    }
  }

  /// Reads one of a fixed set of words.
  func choice<Choice: RawRepresentable<String> & CaseIterable>(
    _ field: Field, of _: Choice.Type, expected: String? = nil
  ) -> Choice? {
    if let choice = field.node.string.flatMap(Choice.init) { return choice }
    let known = Choice.allCases.map(\.rawValue)
    return field.refused(expected ?? alternatives(known), among: known)
  }

  func flag(_ field: Field) -> Bool? {
    if case .scalar(let scalar) = field.node.kind, case .bool(let flag) = scalar.value {
      return flag
    }
    return field.refused("true or false")
  }

  func integer(_ field: Field) -> Int? {
    guard case .integer(let range) = field.key.form else { return nil }
    if let number = field.node.integer, range.contains(number) { return Int(exactly: number) }
    return field.refused("a whole number from \(range.lowerBound) to \(range.upperBound)")
  }

  func number(_ field: Field) -> Double? {
    guard case .number(let range, let expected) = field.key.form else { return nil }
    if let number = field.node.number, range?.contains(number) ?? true { return number }
    return field.refused(expected)
  }

  /// Reads a duration; one that is longer than the key allows is reported and returned.
  func duration(_ field: Field) -> Duration? {
    guard case .duration(let example, let limit) = field.key.form else { return nil }
    return time(field.node, for: field.name, such: example, limit: limit)
  }

  /// Reads such a duration of any node.
  ///
  /// - Parameter allowsZero: Whether `0s` is one, too.
  func time(
    _ node: YAMLNode, for key: String, such example: String,
    limit: (longest: Duration, why: String)?, allowsZero: Bool = false
  ) -> Duration? {
    if allowsZero, node.string == "0s" { return .zero }
    guard let duration = node.string.flatMap(Duration.init(rideText:)) else {
      diagnostics.reportType(of: node, for: key, expected: "a duration such as \(example)")
      return nil
    }
    if let limit, duration > limit.longest {
      diagnostics.report(
        node.location, "\(key) is \(duration.rideText)",
        expected: "at most \(limit.longest.rideText): \(limit.why)")
    }
    return duration
  }

  /// Reads `ride` or the name of a time zone.
  func timeZone(_ field: Field) -> Timing.Zone? {
    if field.node.string == "ride" { return .ride }
    return zone(field).map { .named($0) }
      ?? field.refused(
        "ride (the ride's own zone), or \(ZoneName.expected)",
        among: ["ride"] + FoundationZones.names)
  }

  /// Reads `ride`, `phone` or the name of a time zone.
  func zoneOfQuietHours(_ field: Field) -> QuietHours.Zone? {
    switch field.node.string {
    case "ride": return .ride
    case "phone": return .phone
    default: break
    }
    return zone(field).map { .named($0) }
      ?? field.refused(
        "ride (the ride's own zone), phone (the zone of each phone), or \(ZoneName.expected)",
        among: ["ride", "phone"] + FoundationZones.names)
  }

  /// Reads the name of a time zone.
  func zoneName(_ field: Field) -> ZoneTimes? {
    zone(field) ?? field.refused(ZoneName.expected, among: FoundationZones.names)
  }

  private func zone(_ field: Field) -> ZoneTimes? {
    field.node.string.flatMap(ZoneTimes.init(identifier:))
  }

  /// Reads `never-store` or a duration.
  func expiry(_ field: Field) -> RuleExpiry? {
    field.node.string.flatMap { RuleExpiry(text: $0) }
      ?? field.refused("a duration such as 5m or 1h30m, or never-store", among: ["never-store"])
  }

  func priority(_ field: Field) -> PushPriority? {
    field.node.integer.flatMap { Int(exactly: $0) }.flatMap(PushPriority.init)
      ?? field.refused("10 (at once), 5 (when it suits the phone) or 1 (without waking it)")
  }

  /// Reads the number 1, with which Apple switches something on.
  func one(_ field: Field) -> Bool? { field.node.integer == 1 ? true : field.refused("1") }
}
