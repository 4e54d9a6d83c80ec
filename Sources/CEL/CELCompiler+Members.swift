import Base

// Members of maps, and the operators whose types depend on both sides.

extension CELCompiler {
  /// Returns the type of a member.
  ///
  /// - Parameter node: The part that a message points to.
  func type(
    of name: String, in type: CELType, _ target: CELNode, _ node: CELNode
  ) throws(CELProblem) -> CELType {
    switch type.present {
    case .dyn: return .dyn
    case .object(let members):
      if let type = members[name] { return type }
      let known = members.keys.sorted()
      throw problem(
        node, "\(name.quotedBrief) is not in \(part(target))",
        known.isEmpty ? "nothing: it has no values" : "one of \(known.joined(separator: ", "))",
        nearest: nearestWord(to: name, among: known))
    case .map(let key, let value) where key.accepts(.string): return value
    default:
      throw problem(
        node, "the field \(name.quotedBrief) of a \(type.word)",
        "a field of a map, or a function such as size()")
    }
  }

  mutating func index(
    _ container: CELNode, _ index: CELNode, _ node: CELNode
  ) throws(CELProblem) -> Typed {
    let (target, key) = (try compile(container), try compile(index))
    let type: CELType
    switch target.type.present {
    case .dyn: type = .dyn
    case .list(let element) where key.type.present.isNumber || key.type == .dyn: type = element
    case .object where CELType.string.isComparable(to: key.type):
      type =
        if case .literal(.string(let name)) = index.kind {
          try self.type(of: name, in: target.type, container, index)
        } else {
          .dyn
        }
    case .map(let known, let value) where known.isComparable(to: key.type): type = value
    default:
      throw problem(
        node, "an index of type \(key.type.word) into a \(target.type.word)",
        "a number for a list, a key for a map")
    }
    return (.index(target.code, key.code, part: part(node)), type)
  }

  mutating func binary(
    _ function: CELFunction, _ first: CELNode, _ second: CELNode, _ node: CELNode
  ) throws(CELProblem) -> Typed {
    let (left, right) = (try compile(first), try compile(second))
    let code = CELCode.binary(function, left.code, right.code, part: part(node))
    let isPossible: Bool
    switch function {
    case .equal, .notEqual:
      isPossible = left.type.isComparable(to: right.type)
      try checkWords(of: left.type, first, second)
      try checkWords(of: right.type, second, first)
    case .contained:
      try checkWords(of: left.type, first, second)
      switch right.type.present {
      case .dyn: isPossible = true
      case .list(let element):
        isPossible = element.isComparable(to: left.type)
        try checkWords(of: element, second, first)
      case .object:
        isPossible = CELType.string.isComparable(to: left.type)
        if case .literal(.string(let name)) = first.kind {
          _ = try type(of: name, in: right.type, second, first)
        }
      case .map(let key, _): isPossible = key.isComparable(to: left.type)
      default: isPossible = false
      }
    default:
      return (
        code, try function.result(of: [left.type, right.type], isMethod: false, at: node.offset)
      )
    }
    if isPossible { return (code, .bool) }
    throw problem(
      node, "\(function.rawValue) of \(left.type.word) and \(right.type.word)",
      function == .contained
        ? "a list that may hold it, or a map that may have it as a key"
        : "values of one type: these are never equal")
  }

  /// Reports a word that a value of declared words never is.
  ///
  /// - Parameter other: What is compared with the value: a word, or a list of words.
  private func checkWords(
    of type: CELType, _ value: CELNode, _ other: CELNode
  ) throws(CELProblem) {
    guard case .words(let words) = type.present else { return }
    switch other.kind {
    case .literal(.string(let word)) where !words.contains(word):
      throw problem(
        other, "\(word.quotedBrief) is not a word of \(part(value))",
        "one of \(words.joined(separator: ", "))", nearest: nearestWord(to: word, among: words))
    case .list(let elements):
      for element in elements { try checkWords(of: type, value, element) }
    default: return
    }
  }
}
