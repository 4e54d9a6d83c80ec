// Decodes pushes as an app does. CardDecodingTests compiles it together with generated source:
// `RideAttributes`, `OddAttributes` and `mutants`.
//
// usage: decode FILE-OF-PAYLOADS; prints a line for each result.

import Foundation

/// A push of a card: attributes come with a start only, and an end may lack content.
struct Push<Attributes: Decodable, Content: Decodable>: Decodable {
  struct APS: Decodable {
    var attributes: Attributes?
    var content: Content?

    enum CodingKeys: String, CodingKey {
      case attributes
      case content = "content-state"
    }
  }

  var aps: APS
}

/// A struct written by hand, with the mistakes that apps have.
enum ByHand {
  enum Status: String, Codable { case waiting, here }

  struct Time: Codable { var at: Date }
  struct Whole: Codable { var n: Int }
  struct Fraction: Codable { var n: Double }
  struct Flag: Codable { var n: Bool }
  struct Text: Codable { var n: String }
  struct Maybe: Codable { var n: Int? }
  struct Camel: Codable { var etaEpoch: Int }
  struct Phase: Codable { var status: Status }
}

func decoded<Value: Decodable>(_ type: Value.Type, _ json: String) throws -> Value {
  try JSONDecoder().decode(type, from: Data(json.utf8))
}

func row(_ what: String, _ body: () throws -> String) {
  print("| \(what) | \((try? body()) ?? "throws") |")
}

func showDefaultStrategies() {
  row("`1763712000` into `Date`") {
    let time = try decoded(ByHand.Time.self, #"{"at": 1763712000}"#)
    return "the year \(Calendar(identifier: .gregorian).component(.year, from: time.at))"
  }
  row(#"`"2025-11-21T08:00:00Z"` into `Date`"#) {
    "\(try decoded(ByHand.Time.self, #"{"at": "2025-11-21T08:00:00Z"}"#).at)"
  }
  row("`4.5` into `Int`") { "\(try decoded(ByHand.Whole.self, #"{"n": 4.5}"#).n)" }
  row("`20.0` into `Int`") { "\(try decoded(ByHand.Whole.self, #"{"n": 20.0}"#).n)" }
  row(#"`"7"` into `Int`"#) { "\(try decoded(ByHand.Whole.self, #"{"n": "7"}"#).n)" }
  row("`true` into `Int`") { "\(try decoded(ByHand.Whole.self, #"{"n": true}"#).n)" }
  row("`2` into `Double`") { "\(try decoded(ByHand.Fraction.self, #"{"n": 2}"#).n)" }
  row("`7` into `String`") { "\(try decoded(ByHand.Text.self, #"{"n": 7}"#).n)" }
  row("`1` into `Bool`") { "\(try decoded(ByHand.Flag.self, #"{"n": 1}"#).n)" }
  row("`null` into `Int`") { "\(try decoded(ByHand.Whole.self, #"{"n": null}"#).n)" }
  row("`null` into `Int?`") {
    try decoded(ByHand.Maybe.self, #"{"n": null}"#).n.map { "\($0)" } ?? "nil"
  }
  row("a missing key, `Int`") { "\(try decoded(ByHand.Whole.self, "{}").n)" }
  row("a missing key, `Int?`") {
    try decoded(ByHand.Maybe.self, "{}").n.map { "\($0)" } ?? "nil"
  }
  row("the key `eta_epoch` into `etaEpoch`") {
    "\(try decoded(ByHand.Camel.self, #"{"eta_epoch": 1}"#).etaEpoch)"
  }
  row("an unknown word into an enum") {
    "\(try decoded(ByHand.Phase.self, #"{"status": "elsewhere"}"#).status)"
  }
  row("an unknown word into the generated enum") {
    let state = try decoded(RideState.self, #""elsewhere""#)
    let back = String(decoding: try JSONEncoder().encode(state), as: UTF8.self)
    return state == .unknown("elsewhere") && back == #""elsewhere""# ? "`unknown`" : "another"
  }
  row("a further key") {
    try decoded(ByHand.Whole.self, #"{"n": 1, "m": 2}"#).n == 1 ? "ignored" : "decoded"
  }
}

func decodePayloads(_ path: String) throws {
  let lines = try Data(contentsOf: URL(fileURLWithPath: path)).split(separator: UInt8(ascii: "\n"))
  typealias Card = Push<RideAttributes, RideAttributes.ContentState>
  var (starts, contents, failed) = (0, 0, 0)
  for line in lines {
    do {
      let card = try JSONDecoder().decode(Card.self, from: Data(line))
      starts += card.aps.attributes == nil ? 0 : 1
      contents += card.aps.content == nil ? 0 : 1
    } catch {
      failed += 1
      if failed < 4 { print("failed: \(error) in \(String(decoding: line, as: UTF8.self))") }
    }
  }
  print("decoded \(lines.count) starts \(starts) contents \(contents) failed \(failed)")
  for (name, decode) in mutants {
    let failed = lines.prefix(2000).filter { (try? decode(Data($0))) == nil }
    print("mutant \(name): \(failed.isEmpty ? "survives" : "fails")")
  }
}

/// Encodes the samples of all types, and decodes what was encoded.
func roundTrip<Value: Codable & Equatable>(_ value: Value) throws {
  let data = try JSONEncoder().encode(value)
  let back = try JSONDecoder().decode(Value.self, from: data)
  let text = String(decoding: data, as: UTF8.self)
  print("sample \(back == value ? "equal" : "differs"): \(text)")
}

showDefaultStrategies()
try roundTrip(RideAttributes.sample)
try roundTrip(RideAttributes.ContentState.sample)
try roundTrip(OddAttributes.sample)
try roundTrip(OddAttributes.ContentState.sample)
for content in RideAttributes.ContentState.samples { try roundTrip(content) }
print("sample date: \(RideAttributes.ContentState.sample.etaEpoch ?? 0)")
print("states: \(RideState.known.map(\.rawValue))")
print("words: \(OddAttributes.ContentState.Phase.known.map(\.rawValue))")
try decodePayloads(CommandLine.arguments[1])
