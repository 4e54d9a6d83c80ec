@testable import CEL

/// The outcome of an expression: its value as a text, or why it has none.
enum CELOutcome: Equatable, CustomStringConvertible {
  case value(String)
  /// An error at run time.
  case error(String)
  /// Refused when it is loaded.
  case refused(String)

  /// - Parameter variables: the variables, which are dyn for the type check.
  init(_ expression: String, _ variables: [(String, CELValue)] = []) {
    do {
      let environment = CELEnvironment(variables.map { ($0.0, .dyn) })
      let program = try CELProgram(expression, in: environment)
      do {
        self = .value(Self.text(try program.value(with: Values(values: variables.map(\.1)))))
      } catch {
        self = .error(error.text)
      }
    } catch {
      let nearest = error.nearest.map { "; did you mean \($0)?" } ?? ""
      self = .refused("\(error.offset): \(error.found); expected \(error.expected)\(nearest)")
    }
  }

  struct Values: CELInputs {
    var values: [CELValue]

    func value(of variable: Int) -> CELValue {
      values.indices.contains(variable) ? values[variable] : .null
    }
  }

  /// The value, or `error`.
  var description: String { if case .value(let text) = self { text } else { "error" } }

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

  /// The bits, so that no rounding of a text hides a difference.
  static func double(_ number: Double) -> String {
    if number.isNaN { return "NaN" }
    if number.isInfinite { return number < 0 ? "-inf" : "inf" }
    return "0x" + String(number.bitPattern, radix: 16) + "d"
  }

  private static func quoted(_ text: String) -> String {
    "\""
      + text.unicodeScalars.map { scalar in
        scalar.isASCII && scalar.value >= 32 && scalar.value < 127 && scalar != "\""
          && scalar != "\\"
          ? String(scalar) : "\\u{" + String(scalar.value, radix: 16) + "}"
      }.joined() + "\""
  }
}
