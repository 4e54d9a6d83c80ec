import Base
import Foundation
import RideCore
import Testing

/// JSON is read as Foundation reads it, except where Foundation departs from RFC 8259.
@Suite struct `Fuzzing of JSON` {
  @Test func `A text has Foundation's value, and is written so that it has it again`() {
    Fuzz.run("json", cases: 20_000) { chance throws(Fuzz.Fault) in
      let seed = chance.pick(of: Self.texts, else: "")
      let text =
        chance.percent(3) ? chance.bytes(upTo: 60) : Self.mutation.mutate(Array(seed.utf8), &chance)
      guard let value = JSONValue(json: text) else {
        // Foundation takes `[1,]` and other encodings than UTF-8.
        let isStrict = (try? JSONSerialization.jsonObject(with: Data(text), options: [])) == nil
        return try require(isStrict || Self.isLenient(text), "refused: \(Self.shown(text))")
      }
      // Of two members with one name, Foundation takes either.
      if (try? JSONParser.parse(text)) == nil { return }
      let other = Self.foundation(text)
      try require(Self.isSame(other, value), "\(value) is read from \(Self.shown(text))")
      let again = JSONValue(json: value.json)
      try require(Self.isSame(again, value, within: 0), "\(value) is written otherwise")
      let written = Self.foundation(value.json)
      try require(Self.isSame(written, value), "Foundation reads \(String(describing: written))")
    }
  }

  /// Whether two values are equal, but for the last digits of long numbers, which Foundation does not
  /// round to the nearest double.
  ///
  /// -2^63 is a whole number if it is written as one, and otherwise a double.
  private static func isSame(
    _ left: JSONValue?, _ right: JSONValue?, within share: Double = 1e-12
  ) -> Bool {
    switch (left, right) {
    case (.number(let left), .number(let right)): abs(left - right) <= share * abs(right)
    // A double that is whole because it has no bits for the fraction of the text. Whole numbers that
    // are written as such are mostly no doubles, and must be equal.
    case (.integer(let left), .integer(let right))
    where share > 0 && right.magnitude > 1 << 53 && Int64(exactly: Double(right)) == right:
      abs(Double(left) - Double(right)) <= share * abs(Double(right))
    case (.integer(let left), .number(let right)), (.number(let right), .integer(let left)):
      abs(Double(left) - right) <= share * abs(right)
    case (.array(let left), .array(let right)):
      left.count == right.count
        && zip(left, right).allSatisfy { isSame($0, $1, within: share) }
    case (.object(let left), .object(let right)):
      left.keys == right.keys
        && left.allSatisfy { isSame($0.value, right[$0.key], within: share) }
    default: left == right
    }
  }

  /// Whether Foundation accepts more than RFC 8259 in the text.
  private static func isLenient(_ text: [UInt8]) -> Bool {
    let squeezed = text.filter { ![9, 10, 13, 32].contains($0) }
    let comma = zip(squeezed, squeezed.dropFirst()).contains { left, right in
      left == UInt8(ascii: ",") && (right == UInt8(ascii: "]") || right == UInt8(ascii: "}"))
    }
    return comma || text.contains(0) || text.starts(with: [0xef, 0xbb, 0xbf])
      || text.starts(with: [0xff, 0xfe]) || text.starts(with: [0xfe, 0xff])
  }

  private static func foundation(_ text: [UInt8]) -> JSONValue? {
    let options: JSONSerialization.ReadingOptions = .fragmentsAllowed
    return (try? JSONSerialization.jsonObject(with: Data(text), options: options)).flatMap(value)
  }

  private static func value(_ value: Any) -> JSONValue? {
    switch value {
    case let text as String: .string(text)
    case let members as [String: Any]: .object(members.compactMapValues(Self.value))
    case let values as [Any]: .array(values.compactMap(Self.value))
    case is NSNull: .null
    case let number as NSNumber: Self.number(number)
    default: nil
    }
  }

  /// Foundation's `true` is a number that equals 1; only its text distinguishes the two.
  private static func number(_ number: NSNumber) -> JSONValue? {
    guard let data = try? JSONSerialization.data(withJSONObject: [number]) else { return nil }
    switch String(decoding: data, as: UTF8.self) {
    case "[true]": return .bool(true)
    case "[false]": return .bool(false)
    default: break
    }
    if number.stringValue == String(number.int64Value) { return .integer(number.int64Value) }
    let double = number.doubleValue
    return Int64(exactly: double).map { .integer($0) } ?? .number(double)
  }

  private static func shown(_ text: [UInt8]) -> String { String(decoding: text, as: UTF8.self) }

  private static let mutation = Mutation([
    "{", "}", "[", "]", "\"", ":", ",", "null", "true", "false", "0", "-1", "1e300", "1e-300",
    "\\u0000", "\\ud83d\\ude95", "\\ud83d", "\\n", "\\/", "é", "\u{0}", "\u{1f}", "-0", "01",
    "0.1", "9223372036854775807", "9223372036854775808", "123456789012345678901234567890", "1.0",
    "2E+3", "\\u00e9", "\u{2028}", "\u{7f}", " ",
  ])

  private static let texts = [
    #"{"plate":"B-RP 1001","eta_epoch":1800000000,"fare":12.5,"pool":false,"stops":[],"note":null}"#,
    #"{"a":[1,2.5,null,true,{"b":"\u00e9\ud83d\ude95"}],"c":{"d":{"e":-0.0e-12}}}"#,
    #"[123456789012345678901234567890,-9223372036854775808,1e3,"\\\/\b\f\n\r\t\""]"#,
    #""text""#, "17", " [ ] ", "{}",
  ]
}
