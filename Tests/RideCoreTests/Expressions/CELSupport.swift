@testable import RideCore

/// The outcome of an expression: its value as a text, or `error`.
enum CELOutcome {
  /// Returns the canonical text of an expression's value; `error` if it has none.
  ///
  /// - Parameter variables: the variables, which are dyn for the type check.
  static func of(_ expression: String, _ variables: [(String, CELValue)] = []) -> String {
    do {
      let environment = CELEnvironment(variables.map { ($0.0, .dyn) })
      let program = try CELProgram(expression, in: environment)
      return text(try program.value(with: Values(values: variables.map(\.1))))
    } catch {
      return "error"
    }
  }

  /// Returns why an expression is refused or has no value; nil if it has one.
  static func error(_ expression: String, _ variables: [(String, CELValue)] = []) -> String? {
    do {
      let environment = CELEnvironment(variables.map { ($0.0, .dyn) })
      let program = try CELProgram(expression, in: environment)
      _ = try program.value(with: Values(values: variables.map(\.1)))
      return nil
    } catch let problem as CELProblem {
      return "\(problem.offset): \(problem.found); \(problem.expected)"
    } catch let error as CELError {
      return error.text
    } catch {
      return "\(error)"
    }
  }

  struct Values: CELInputs {
    var values: [CELValue]

    func value(of variable: Int) -> CELValue {
      values.indices.contains(variable) ? values[variable] : .null
    }
  }

  /// The value and its type, in the notation of the vectors.
  static func text(_ value: CELValue) -> String {
    switch value {
    case .null: "null"
    case .bool(let flag): flag ? "true" : "false"
    case .int(let number): "\(number)"
    case .uint(let number): "\(number)u"
    case .double(let number): double(number)
    case .string(let text): quoted(text)
    case .bytes(let bytes):
      "b\"" + bytes.map { String(UInt16($0) + 0x100, radix: 16).dropFirst() }.joined() + "\""
    case .list(let list): "[" + list.values.map(Self.text).joined(separator: ", ") + "]"
    case .map(let map):
      "{"
        + map.keys.map { "\(Self.text($0)): \(Self.text(map.value(of: $0) ?? .null))" }.sorted()
        .joined(separator: ", ") + "}"
    case .timestamp(let instant): "timestamp(\(instant.text))"
    case .duration(let nanoseconds): "duration(\(CELDuration.text(nanoseconds)))"
    case .type(let name): "type(\(name.rawValue))"
    }
  }

  private static func double(_ number: Double) -> String {
    if number.isNaN { return "NaN" }
    if number.isInfinite { return number < 0 ? "-inf" : "inf" }
    return "0x" + String(number.bitPattern, radix: 16) + "d"
  }

  private static func quoted(_ text: String) -> String {
    "\""
      + text.unicodeScalars.map { scalar in
        scalar.isASCII && scalar.value >= 32 && scalar != "\"" && scalar != "\\"
          ? String(scalar) : "\\u{" + String(scalar.value, radix: 16) + "}"
      }.joined() + "\""
  }
}
