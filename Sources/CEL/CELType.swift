import Base

/// The type of an expression, as far as it is known when the expression is loaded.
package indirect enum CELType: Hashable, Sendable {
  /// Known only when it is evaluated.
  case dyn
  case null
  case bool, int, uint, double, string, bytes, timestamp, duration, type
  case list(CELType)
  case map(CELType, CELType)
  /// An int or a double, as JSON has them.
  case number
  /// A string that is one of these.
  case words([String])
  /// A map with these members only, each of which may be missing.
  case object([String: CELType])
  /// The type or null.
  case nullable(CELType)

  /// The name in messages.
  var word: String {
    switch self {
    case .dyn: "dyn"
    case .null: "null"
    case .bool: "bool"
    case .int: "int"
    case .uint: "uint"
    case .double: "double"
    case .string: "string"
    case .bytes: "bytes"
    case .timestamp: "timestamp"
    case .duration: "duration"
    case .type: "type"
    case .list: "list"
    case .map, .object: "map"
    case .number: "number"
    case .words: "string"
    case .nullable(let type): type.word
    }
  }

  var isNumber: Bool { [.int, .uint, .double, .number].contains(self) }

  /// The types of the specification that its values may have.
  var possible: [CELType] {
    switch self {
    case .number: [.int, .double]
    case .words: [.string]
    case .object: [.map(.dyn, .dyn)]
    default: [self]
    }
  }

  /// The type without null.
  var present: CELType { if case .nullable(let type) = self { type } else { self } }

  init(of value: CELValue) {
    switch value {
    case .null: self = .null
    case .bool: self = .bool
    case .int: self = .int
    case .uint: self = .uint
    case .double: self = .double
    case .string: self = .string
    case .bytes: self = .bytes
    case .list: self = .list(.dyn)
    case .map: self = .map(.dyn, .dyn)
    case .timestamp: self = .timestamp
    case .duration: self = .duration
    case .type: self = .type
    }
  }

  /// Returns whether a value of another type may be a value of this one.
  func accepts(_ other: CELType) -> Bool {
    switch (self, other) {
    case (.dyn, _), (_, .dyn): true
    case (.list(let element), .list(let other)): element.accepts(other)
    case (.map(let key, let value), .map(let otherKey, let otherValue)):
      key.accepts(otherKey) && value.accepts(otherValue)
    case (.number, .int), (.number, .double), (.int, .number), (.double, .number),
      (.string, .words), (.words, .string), (.words, .words), (.object, .object):
      true
    case (.map(let key, _), .object), (.object, .map(let key, _)): key.accepts(.string)
    case (.nullable(let type), _): other == .null || type.accepts(other.present)
    case (_, .nullable(let type)): accepts(type)
    default: self == other
    }
  }

  /// Returns whether values of two types can be equal.
  func isComparable(to other: CELType) -> Bool {
    switch (self, other) {
    case (.nullable(let type), _): other == .null || type.isComparable(to: other)
    case (_, .nullable(let type)): self == .null || isComparable(to: type)
    case (.list(let element), .list(let other)): element.isComparable(to: other)
    case (.map(let key, let value), .map(let otherKey, let otherValue)):
      key.isComparable(to: otherKey) && value.isComparable(to: otherValue)
    default: accepts(other) || isNumber && other.isNumber
    }
  }

  /// Returns the type of values that are of the one or the other type.
  func joined(with other: CELType) -> CELType {
    if self == other { return self }
    if other == .null, self != .dyn { return .nullable(present) }
    if self == .null, other != .dyn { return .nullable(other.present) }
    if present == other.present { return .nullable(present) }
    let isText = [self, other].allSatisfy { $0.present.possible == [.string] }
    return isText ? .nullable(.string) : .dyn
  }
}

/// The variables of an expression: a path such as `ride.state` each.
package struct CELEnvironment: Sendable {
  package typealias Variable = (path: [String], type: CELType)

  package var variables: [Variable]
  /// What expressions may call besides the functions of CEL.
  package let functions: [CELHostFunction]

  package init(_ variables: [(String, CELType)], functions: [CELHostFunction] = []) {
    self.functions = functions
    self.variables = variables.map { name, type in
      (name.split(separator: ".").map(String.init), type)
    }
  }

  /// Declares the type of a variable, such as the members of `ride.attributes`.
  package mutating func declare(_ name: String, _ type: CELType) {
    for index in variables.indices where variables[index].path.joined(separator: ".") == name {
      variables[index].type = type
    }
  }

  /// Returns the variable with the longest path at the start of a path.
  func variable(_ path: [String]) -> (index: Int, type: CELType, length: Int)? {
    let matches = variables.indices.filter { path.starts(with: variables[$0].path) }
    guard let index = matches.max(by: { variables[$0].path.count < variables[$1].path.count })
    else { return nil }
    return (index, variables[index].type, variables[index].path.count)
  }

  /// The first names of the paths, each once.
  var roots: [String] { names(in: []) }

  /// Returns the names that follow a path, each once.
  func names(in path: [String]) -> [String] {
    var names: [String] = []
    for variable in variables
    where variable.path.count > path.count && variable.path.starts(with: path) {
      let name = variable.path[path.count]
      if !names.contains(name) { names.append(name) }
    }
    return names
  }

  /// Returns the problem of a path that leads to no variable.
  ///
  /// - Parameter locals: the variables of macros, which are names, too.
  func unknown(_ path: [String], at offset: Int, _ locals: [String]) -> CELProblem {
    let name = path.last ?? ""
    let parent = Array(path.dropLast())
    let fields = names(in: path)
    if !fields.isEmpty {
      return CELProblem(
        offset: offset, found: "\(path.joined(separator: ".")) without a field",
        expected: "one of its fields: \(fields.joined(separator: ", "))")
    }
    let known = names(in: parent)
    if parent.isEmpty {
      let names = known + locals
      return CELProblem(
        offset: offset, found: "the unknown name \(name.quotedBrief)",
        expected: names.isEmpty
          ? "a value" : "one of \(names.joined(separator: ", ")); a text has quotes",
        nearest: variables.first { $0.path.last == name }?.path.joined(separator: ".")
          ?? nearestWord(to: name, among: names))
    }
    return CELProblem(
      offset: offset,
      found: "\(name.quotedBrief) is not a field of \(parent.joined(separator: "."))",
      expected: "one of \(known.joined(separator: ", "))",
      nearest: nearestWord(to: name, among: known))
  }
}
