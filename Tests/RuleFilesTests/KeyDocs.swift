import Foundation

@testable import Base
@testable import RideCore
@testable import RuleFiles

/// The tables of keys in `docs/rules.md` and `docs/cards.md`, made from the key table.
enum KeyDocs {
  static let forms = [
    KeyTable.file, KeyTable.states, KeyTable.defaults, KeyTable.app, KeyTable.appAlert,
    KeyTable.quiet, KeyTable.cap, KeyTable.rule, KeyTable.alert, KeyTable.liveActivity,
    KeyTable.cardField, KeyTable.elementField, KeyTable.end, KeyTable.cardAlert,
    KeyTable.criticalSound, TimerKeys.escalation, KeyTable.androidAlert,
    KeyTable.androidBackground, KeyTable.androidCard, KeyTable.androidStep,
  ]

  static func start(of form: MappingForm) -> String { "<!-- keys of \(form.subject) -->\n" }

  /// Returns a document with its tables of keys replaced.
  static func document(_ text: String) -> String {
    var text = text
    for form in forms {
      guard let from = text.range(of: start(of: form))?.upperBound,
        let to = text.range(of: "<!-- end of keys -->", range: from..<text.endIndex)?.lowerBound
      else { continue }
      text.replaceSubrange(from..<to, with: table(form))
    }
    return text
  }

  private static func table(_ form: MappingForm) -> String {
    let rows = form.keys.map { "| `\($0.name)` | \(value($0.form)) | \(use($0)) | \($0.summary) |" }
    return (["| key | value | use | meaning |", "|---|---|---|---|"] + rows)
      .map { $0 + "\n" }.joined()
  }

  private static func use(_ key: Key) -> String {
    let (nextTo, optional) = (companions(key.nextTo), companions(key.optionalNextTo))
    let parts = [
      key.required.map { _ in
        key.optionalNextTo.isEmpty ? "required" : "required, except with \(optional)"
      }, key.nextTo.isEmpty ? nil : "with \(nextTo)",
      key.partner.map { "needs `\($0.name)`" },
      key.excludedBy.isEmpty
        ? nil : "not with \(alternatives(key.excludedBy.map { "`\($0)`" }))",
    ]
    return parts.compactMap { $0 }.joined(separator: "; ")
  }

  /// Returns keys next to which another one may be; the five kinds of pushes in one word.
  private static func companions(_ names: [String]) -> String {
    let pushes = ["alert", "background", "widgets", "controls", "location"]
    let quoted = { (names: [String]) in names.map { "`\($0)`" } }
    guard Set(pushes).isSubset(of: names) else { return alternatives(quoted(names)) }
    return alternatives(["a push"] + quoted(names.filter { !pushes.contains($0) }))
  }

  private static func value(_ form: ValueForm) -> String {
    switch form {
    case .word(.ruleName): "a-z, 0-9, `-`"
    case .word(.app): "a-z, 0-9, `-`, `_`"
    case .word(.event): "word"
    case .word(.channel): "a-z, 0-9, `-`, `_`, `.`"
    case .word(.topic), .word(.receiver): "a-z, 0-9, `-`, `_`"
    case .word(.locale): "locale"
    case .word(.attribute): "letters, digits, `_`, `-`"
    case .words: "list of words"
    case .oneOrMore(let form, _): "\(value(.word(form))), or a list"
    case .oneOrMoreWords: "word or list of words"
    case .text: "text"
    case .localizedText: "text, or map of locale to text"
    case .texts: "list of texts"
    case .flag: "`true` or `false`"
    case .choice(let words): alternatives(words.map { "`\($0)`" })
    case .integer(let range): "\(range.lowerBound) to \(range.upperBound)"
    case .priority: "10, 5 or 1"
    case .one: "1"
    case .number(let range, _): range.map { "\($0.lowerBound) to \($0.upperBound)" } ?? "number"
    case .badge: "whole number, or one placeholder"
    case .duration(_, let limit):
      limit.map { "duration, at most \($0.longest.rideText)" } ?? "duration"
    case .periodOrRide(let limit): "duration, at most \(limit.longest.rideText), or `ride`"
    case .delay: "duration, or `0s`"
    case .times: "time, or list of times"
    case .expiry: "duration or `never-store`"
    case .expression: "expression"
    case .attributes: "name, or list of names"
    case .attributeTypes: "map of name to type"
    case .rideTime: "`pickup_at` or `attributes.KEY`"
    case .cron: "cron expression"
    case .timeZone: "`ride` or an IANA name"
    case .zoneOfQuietHours: "`ride`, `phone` or an IANA name"
    case .zoneName: "IANA name"
    case .timeOfDay: "`HH:MM`"
    case .missed: "`skip`, `latest`, `all` or `{ all: N }`"
    case .ends(let form, let longest, _):
      "word, list of words, or map of event to duration, at most \(longest.rideText), or to mapping: "
        + form.subject
    case .durationByState(_, let limit):
      "duration, at most \(limit.longest.rideText), or map of state and `default` to it"
    case .opening: "`pickup_at` or `attributes.KEY`, with `+` or `-` and a duration"
    case .fieldType:
      alternatives(DeclaredType.allCases.map { "`\($0.rawValue)`" })
        + ", list of words, or list with a mapping of fields"
    case .numberByEvent: "map of event to number"
    case .typeName: "name of a Swift type"
    case .payload: "mapping"
    case .cardFields: "mapping of fields"
    case .fieldValue: "any"
    case .emptyMapping: "`{}`"
    case .mapping(let form): "mapping: \(form.subject)"
    case .mappingNextTo: "mapping"
    case .placeholder: "one placeholder"
    case .steps(let form): "list of words, or of mappings: \(form.subject)"
    case .offOrMapping(let form): "`off`, or mapping: \(form.subject)"
    case .textOrMapping(_, let form): "text, or mapping: \(form.subject)"
    case .mappings(let form): "list of mappings: \(form.subject)"
    case .mappingByApp(let form): "map of app to \(form.subject)"
    case .mappingByEvent(let form): "map of event to \(form.subject)"
    }
  }
}
