/// A function that the environment of an expression provides, called by its name.
package struct CELHostFunction: Hashable, Sendable {
  package let name: String
  let parameters: [CELType]
  let result: CELType

  package init(_ name: String, _ parameters: [CELType], result: CELType) {
    self.name = name
    self.parameters = parameters
    self.result = result
  }

  /// Returns what is wrong with a call; nil if its form is right.
  func problem(of arguments: [CELType], isMethod: Bool, at offset: Int) -> CELProblem? {
    let form = CELFunction.Overload(parameters: parameters, result: result)
    if !isMethod, form.accepts(arguments) { return nil }
    let types = arguments.map(\.word).joined(separator: " and ")
    return CELProblem(
      offset: offset,
      found: isMethod ? "x.\(name)()" : "\(name) of \(types.isEmpty ? "nothing" : types)",
      expected: "\(name)(\(parameters.map(\.word).joined(separator: ", ")))")
  }
}

extension CELEnvironment {
  /// The names of everything that an expression can call.
  var callable: [String] {
    CELFunction.named.map(\.rawValue) + functions.map(\.name) + ["has"]
      + CELMacro.allCases.map(\.rawValue)
  }

  func host(_ name: String) -> Int? { functions.firstIndex { $0.name == name } }
}

extension CELCompiler {
  mutating func host(
    _ index: Int, _ isMethod: Bool, _ arguments: [CELNode], _ node: CELNode
  ) throws(CELProblem) -> Typed {
    let function = environment.functions[index]
    let arguments = try compile(arguments)
    let types = arguments.map(\.type)
    if let problem = function.problem(of: types, isMethod: isMethod, at: node.offset) {
      throw problem
    }
    called.insert(index)
    return (.host(index, arguments.map(\.code), part: part(node)), function.result)
  }
}
