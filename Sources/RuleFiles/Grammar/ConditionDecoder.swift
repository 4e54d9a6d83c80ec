import Base
import CEL
import RideCore

/// Decodes `if` and `remember`.
struct ConditionDecoder {
  let diagnostics: Diagnostics
  /// The states of the service; nil if not all files could be read.
  let states: [String]?

  /// The largest number of attributes that a rule remembers.
  private static let limit = 10

  func condition(_ fields: Fields) -> Condition? {
    let remembered = fields["remember"].map(paths) ?? []
    guard let field = fields["if"] else {
      if let field = fields["remember"] { _ = fields.partner(of: field) }
      return nil
    }
    guard let text = field.node.string else {
      diagnostics.reportType(
        of: field.node, for: "if",
        expected: "an expression in CEL such as ride.attributes.product == 'xl'")
      return nil
    }
    guard let remembered else { return nil }
    do {
      let condition = try Condition(
        text, remembering: remembered, declared: diagnostics.attributes, states: states)
      if let field = fields["remember"], !condition.readsLast {
        diagnostics.report(
          field.location, "remember in a rule whose if does not read last",
          expected:
            "last.\(remembered.first?.joined(separator: ".") ?? "KEY") in if, or no remember")
      } else if fields["remember"] == nil, condition.readsLast {
        diagnostics.report(
          field.location, "last in a rule without remember",
          expected: fields["live-activity"] == nil
            ? "remember next to if: the attributes to keep, such as remember: [eta_epoch]"
            : "an if without it: a card has no former firing")
      }
      return condition
    } catch {
      report(error, text, field.node)
      return nil
    }
  }

  /// Reports a mistake with its location in the file, and in the expression.
  private func report(_ problem: CELProblem, _ text: String, _ node: YAMLNode) {
    guard case .scalar(let scalar) = node.kind else { return }
    let location = scalar.textLocation.map {
      SourceLocation(line: $0.line, column: $0.column + problem.offset)
    }
    var expected = problem.expected
    if text.contains("{{") { expected = "names without braces, such as ride.state" }
    diagnostics.report(
      location ?? node.location, "\(problem.found) (character \(problem.offset + 1) of if)",
      expected: expected, nearest: problem.nearest)
  }

  /// Reads columns and paths of attributes such as `eta_epoch`, `driver.eta` or
  /// `attributes.pickup_at`; nil if one is wrong.
  private func paths(_ field: Field) -> [[String]]? {
    let nodes: [YAMLNode]
    switch field.node.kind {
    case .sequence(let elements): nodes = elements
    case .scalar: nodes = [field.node]
    case .mapping, .refused:
      diagnostics.reportType(
        of: field.node, for: "remember", expected: "a list of attributes such as [eta_epoch]")
      return nil
    }
    guard (1...Self.limit).contains(nodes.count) else {
      diagnostics.report(
        field.node.location, "remember with \(nodes.count) entries",
        expected: "1 to \(Self.limit) attributes such as [eta_epoch]")
      return nil
    }
    var paths: [[String]] = []
    for node in nodes {
      guard let path = self.path(node) else { return nil }
      if let other = paths.first(where: { $0.starts(with: path) || path.starts(with: $0) }) {
        diagnostics.report(
          node.location, "\(quoted(path.joined(separator: "."))) in remember",
          expected: "each value once: \(quoted(other.joined(separator: "."))) has it already")
        return nil
      }
      paths.append(path)
    }
    return paths
  }

  private func path(_ node: YAMLNode) -> [String]? {
    let path = node.string?.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    let isColumn = path?.count == 2 && Placeholder.RideField(rawValue: path?[1] ?? "") != nil
    let prefixes = [["ride", "attributes"]] + (isColumn ? [["ride"]] : [])
    let prefix = prefixes.first { path?.starts(with: $0) == true }
    if let path, prefix == nil, path != ["attributes"],
      path.joined().utf8.count <= WordForm.lengthLimit,
      !path.contains(where: { $0.isEmpty || $0.contains("{") || $0.contains(where: \.isWhitespace) }
      )
    {
      if path.count > 1 || Placeholder.RideField(rawValue: path[0]) == nil {
        let keys = path[0] == "attributes" ? Array(path.dropFirst()) : path
        _ = diagnostics.attribute(keys, of: "", in: "remember", at: node.location)
      }
      return path
    }
    diagnostics.reportType(
      of: node, for: "an entry of remember",
      expected: "a column of the ride such as pickup_at, or an attribute such as eta_epoch",
      nearest: prefix.flatMap { path?.dropFirst($0.count).joined(separator: ".") })
    return nil
  }
}
