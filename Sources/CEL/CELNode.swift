/// A part of a parsed expression.
struct CELNode {
  indirect enum Kind {
    case literal(CELValue)
    case name(String)
    case field(CELNode, String)
    /// `has(e.f)`
    case hasField(CELNode, String)
    case index(CELNode, CELNode)
    /// A call; the target of a method is the first argument.
    case call(String, isMethod: Bool, [CELNode])
    case unary(CELFunction, CELNode)
    case binary(CELFunction, CELNode, CELNode)
    case list([CELNode])
    case map([(key: CELNode, value: CELNode)])
    case conditional(CELNode, CELNode, CELNode)
    case and([CELNode])
    case or([CELNode])
    case each(CELMacro, over: CELNode, variable: String, [CELNode])
  }

  let kind: Kind
  /// The scalars of the expression that it consists of.
  let range: Range<Int>
  /// The scalar that a message points to: an operator, or the last name of a path.
  let offset: Int
  /// How many levels of nodes it has.
  let depth: Int

  init(_ kind: Kind, _ range: Range<Int>, at offset: Int? = nil, in children: [CELNode] = []) {
    self.kind = kind
    self.range = range
    self.offset = offset ?? range.lowerBound
    depth = 1 + (children.map(\.depth).max() ?? 0)
  }

  /// The nodes directly below it.
  var children: [CELNode] {
    switch kind {
    case .field(let node, _), .hasField(let node, _), .unary(_, let node): [node]
    case .index(let left, let right), .binary(_, let left, let right): [left, right]
    case .call(_, _, let nodes), .list(let nodes), .and(let nodes), .or(let nodes): nodes
    case .each(_, let range, _, let nodes): [range] + nodes
    case .map(let entries): entries.flatMap { [$0.key, $0.value] }
    case .conditional(let condition, let first, let second): [condition, first, second]
    case .literal, .name: []
    }
  }

  /// The path of names such as `ride.attributes.eta`; nil for anything else.
  var path: [String]? {
    switch kind {
    case .name(let name): [name]
    case .field(let node, let name): node.path.map { $0 + [name] }
    default: nil
    }
  }
}

/// A macro over the elements of a list, or the keys of a map.
enum CELMacro: String, CaseIterable {
  case all, exists, filter, map
  case existsOne = "exists_one"

  init?(name: String) {
    self.init(rawValue: name == "existsOne" ? "exists_one" : name)
  }
}
