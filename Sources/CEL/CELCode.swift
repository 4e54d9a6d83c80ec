import Base

/// An expression in the form in which it is evaluated: names are resolved, and calls bound.
indirect enum CELCode: Sendable {
  case constant(CELValue)
  /// A variable of the environment, by index, with its path for messages.
  case variable(Int)
  /// The variable of a macro, by how many enclose it.
  case local(Int)
  /// A field of a map; the text is what was written.
  case field(CELCode, String, part: String)
  case hasField(CELCode, String, part: String)
  /// `has` of a variable: whether it is not null.
  case hasVariable(Int)
  case index(CELCode, CELCode, part: String)
  case unary(CELFunction, CELCode, part: String)
  case binary(CELFunction, CELCode, CELCode, part: String)
  case call(CELFunction, [CELCode], part: String)
  /// A call of a function of the environment, by index.
  case host(Int, [CELCode], part: String)
  /// A match with a pattern that was parsed when the expression was loaded.
  case matches(CELCode, LinearRegex, part: String)
  case list([CELCode])
  case map([(key: CELCode, value: CELCode)], part: String)
  case conditional(CELCode, CELCode, CELCode, part: String)
  case and([CELCode], part: String)
  case or([CELCode], part: String)
  case each(CELMacro, over: CELCode, [CELCode], part: String)
}

/// An expression that is ready to be evaluated.
package struct CELProgram: Sendable {
  /// The expression as it was written.
  package let text: String
  package let type: CELType
  /// Which variables of the environment it reads, by index.
  package let variables: Set<Int>
  /// Which functions of the environment it calls, by index.
  package let functions: Set<Int>
  let code: CELCode

  /// Compiles an expression.
  ///
  /// - Parameter result: the type that it must have, if it is known; nil allows any.
  package init(
    _ text: String, in environment: CELEnvironment, result: CELType? = nil
  ) throws(CELProblem) {
    let scalars = Array(text.unicodeScalars)
    let node = try CELParser.parse(scalars)
    var compiler = CELCompiler(scalars, environment)
    let (code, type) = try compiler.compile(node)
    if let result, !result.accepts(type) || type == .null {
      throw CELProblem(
        offset: node.offset, found: "a value of type \(type.word)",
        expected: "an expression that gives a \(result.word)")
    }
    self.text = text
    self.type = type
    self.code = code
    variables = compiler.used
    functions = compiler.called
  }
}

extension CELCode {
  /// Returns a call, with what is constant in it converted once: a pattern, a time, a duration.
  static func folding(
    _ function: CELFunction, _ arguments: [CELCode], _ part: String, at offset: Int
  ) throws(CELProblem) -> CELCode {
    if function == .matches, arguments.count == 2,
      case .constant(.string(let pattern)) = arguments[1]
    {
      do {
        return .matches(arguments[0], try LinearRegex(pattern), part: part)
      } catch {
        throw CELProblem(
          offset: offset, found: "the pattern \(pattern.quotedBrief): \(error.text)",
          expected: "a pattern of RE2")
      }
    }
    if [.timestamp, .duration].contains(function), arguments.count == 1,
      case .constant(let value) = arguments[0]
    {
      do {
        return .constant(try CELOperators.convert(value, by: function))
      } catch {
        throw CELProblem(
          offset: offset, found: error.description,
          expected: function == .timestamp
            ? "a time such as 2026-11-22T08:00:00Z" : "a duration such as 90s, 5m or 1h30m")
      }
    }
    return .call(function, arguments, part: part)
  }
}
