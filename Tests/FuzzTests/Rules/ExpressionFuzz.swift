import Base
import CEL
import RideCore
import Testing

/// Whatever the text is, an expression is refused at an offset that it has, or its evaluation ends.
@Suite struct `Fuzzing of expressions` {
  private static let seeds = [
    "last == null || math.abs(ride.attributes.eta_epoch - last.eta_epoch) > 180",
    "ride.attributes.product != 'robotaxi' && ride.state in ['requested', 'driver_assigned']",
    "[1, 2, 3].map(x, [4, 5].filter(y, y > x).size()).exists_one(z, z % 2 == 0)",
    "now - event.at > duration('1h30m') ? ride.pickup_at.getHours('Europe/Berlin') < 22 : true",
    "{'a': 1u, true: -0x7f, 3: b'\\xff'}[dyn(3)] == r'a\\b' + \"\"\"c\"\"\"",
    "phone.locale.matches('^(de|pt-[A-Z]{2}|(a*)*)$') || has(ride.attributes.stops.`first-one`)",
    "!(-9223372036854775808 / -1 == 1e308 * 10.0) // end",
    "string(timestamp('2026-11-22T08:00:00.5+01:00')) + string(duration('-1.5h')) + string(1e21)",
  ]

  private static let mutation = Mutation([
    "(", ")", "[", "]", "{", "}", ".", ",", ":", "?", "'", "\"", "'''", "\\", "\\u00e4", "\\ud800",
    "`", "//", "\n", " ", "-", "!", "&&", "||", "==", "!=", "<", ">=", "+", "*", "/", "%", " in ",
    "0", "1u", "9223372036854775807", "18446744073709551615u", "1e308", ".5", "0x", "null", "true",
    "ride", "ride.attributes", "event.data", "last", "phone.locale", "now", "x", "dyn(", "size(",
    "has(", ".all(x, ", ".map(x, ", ".exists(x, ", ".matches('", "timestamp('", "duration('",
    "int(", "string(", "math.greatest(", ".getHours('", "é", "e\u{301}", "🚕", "\u{0}", "\u{2028}",
    "((((((((", "[[[[[[[[", "--------", "!!!!!!!!", "a{1000}", "(a*)*", "[^", "[[:",
  ])

  private struct Values: CELInputs {
    var values: [CELValue]

    func value(of variable: Int) -> CELValue {
      values.indices.contains(variable) ? values[variable] : .null
    }
  }

  @Test func `No text does harm`() {
    Fuzz.run("expressions", cases: 20_000) { chance throws(Fuzz.Fault) in
      let bytes =
        chance.percent(10)
        ? chance.bytes(upTo: 60)
        : Self.mutation.mutate(
          Array(chance.pick(of: Self.seeds, else: "").utf8), &chance, times: 1...6)
      let text = String(decoding: bytes, as: UTF8.self)
      var environment = Condition.environment
      if chance.percent(30) {
        environment = CELEnvironment(
          ["ride", "event", "phone", "last", "now", "x"].map { ($0, .dyn) })
      }
      do {
        let program = try CELProgram(text, in: environment)
        let values = environment.variables.map { _ in Self.value(&chance, depth: 3) }
        try check { () throws(CELError) in _ = try program.value(with: Values(values: values)) }
      } catch let problem as CELProblem {
        try require(
          (0...text.unicodeScalars.count).contains(problem.offset),
          "the offset \(problem.offset) in \(text.debugDescription)")
        try require(
          !problem.found.isEmpty && !problem.found.contains(where: \.isNewline),
          "in two lines: \(problem.found)")
      } catch {
        throw Fuzz.Fault(text: "\(error) for \(text.debugDescription)")
      }
    }
  }

  private func check(_ evaluation: () throws(CELError) -> Void) throws(Fuzz.Fault) {
    do {
      try evaluation()
    } catch {
      try require(!error.text.contains(where: \.isNewline), "in two lines: \(error.text)")
    }
  }

  /// Returns a value as a ride may have it, whatever the types of the environment.
  private static func value(_ chance: inout Chance, depth: Int) -> CELValue {
    switch chance.number(0...(depth > 0 ? 9 : 7)) {
    case 0: .null
    case 1: .bool(chance.percent(50))
    case 2: .int(chance.pick(0, 1, -1, .min, .max, 180))
    case 3: .uint(chance.pick(0, 1, .max))
    case 4: .double(chance.pick(0, -0.0, 0.5, .nan, .infinity, -1e308, 9.3e18))
    case 5:
      .string(chance.pick("", "xl", "é", "de", "e\u{301}", String(repeating: "a", count: 5000)))
    case 6: CELValue(Timestamp(microseconds: chance.pick(.min, .max, 0, -1, 1_800_000_000_000_000)))
    case 7: .duration(chance.pick(.min, .max, 0, -1))
    case 8:
      .list(.values((0..<chance.number(0...20)).map { _ in value(&chance, depth: depth - 1) }))
    default:
      CELValue(
        JSONValue.object([
          "a": .integer(1), "attributes": .object(["eta_epoch": .number(2.5), "product": .null]),
          "eta_epoch": .string("x"),
        ]))
    }
  }
}
