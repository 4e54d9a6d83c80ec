import Base
import Timeline

/// A condition under which `compare` fails: a word of `--fail-on`.
enum CompareFailure: String, CaseIterable {
  /// RidePulse showed nothing, whether it decided the push or not.
  case onlyOld = "only-old"
  /// The ledger has no row about it.
  case undecided
  case onlyNew = "only-new"
  /// Both senders showed it: a mistake once both send to phones.
  case both
  /// The texts differ.
  case text
}

/// The options of `compare`.
struct CompareOptions {
  let path: String
  var form = OldLogReader.Form()
  var kinds: [(kind: String, rule: String)] = []
  var window: Duration
  var textRides: Int
  var failOn: Set<CompareFailure> = [.onlyOld]

  init(_ arguments: Arguments) throws {
    guard let path = arguments.operands.first else { throw arguments.error("FILE is missing") }
    self.path = path
    window = try arguments.duration("--within") ?? .seconds(60)
    // The ledger is read that long before and after the log.
    if window > .seconds(86_400) { throw arguments.error("--within is more than a day") }
    textRides = try arguments.integer("--text-rides", in: 0...1_000_000) ?? 2000
    form = try Self.form(arguments)
    kinds = try Self.kinds(arguments)
    if let text = arguments.value("--fail-on") { failOn = try Self.failOn(text, arguments) }
  }

  private static func form(_ arguments: Arguments) throws -> OldLogReader.Form {
    var form = OldLogReader.Form()
    form.time = arguments.value("--time-column") ?? form.time
    form.person = arguments.value("--person-column") ?? form.person
    form.kind = arguments.value("--kind-column") ?? form.kind
    if let name = arguments.value("--text-column") { (form.text, form.needsText) = (name, true) }
    form.encoding = arguments.choice("--encoding") ?? .utf8
    if let text = arguments.value("--separator") {
      let byte = text == "tab" ? UInt8(ascii: "\t") : text.utf8.first
      guard let byte, text == "tab" || text.utf8.count == 1, ![10, 13, 34].contains(byte) else {
        throw arguments.error(
          "--separator \(text) is not one character of ASCII, or tab; a quote can't be one")
      }
      form.separator = byte
    }
    if let name = arguments.value("--time-zone") {
      guard let zone = ZoneTimes(identifier: name) else {
        throw arguments.error(
          "--time-zone \(name) is not a time zone; expected one such as Europe/Vienna")
      }
      form.zone = zone
    }
    return form
  }

  private static func kinds(_ arguments: Arguments) throws -> [(kind: String, rule: String)] {
    var kinds: [(kind: String, rule: String)] = []
    for text in arguments.all("--kind") {
      let sides = text.split(separator: "=", maxSplits: 1).map(String.init)
      guard sides.count == 2 else {
        throw arguments.error("--kind \(text) is not OLD=RULE; expected one such as arrived=here")
      }
      if let other = kinds.first(where: { $0.rule == sides[1] }) {
        throw arguments.error(
          "--kind \(text): \(sides[1]) is the rule of \(other.kind) already; a rule has one kind")
      }
      kinds.append((sides[0], sides[1]))
    }
    return kinds
  }

  private static func failOn(
    _ text: String, _ arguments: Arguments
  ) throws -> Set<CompareFailure> {
    if text == "none" { return [] }
    let known = CommandForm.words(CompareFailure.self)
    return try Set(
      text.split(separator: ",", omittingEmptySubsequences: false).map { part in
        if let word = CompareFailure(rawValue: String(part)) { return word }
        throw arguments.error(
          "--fail-on \(part) is not one of \(known.joined(separator: ", ")), none"
            + suggestion(for: String(part), among: known))
      })
  }
}
