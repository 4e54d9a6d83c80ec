extension Arguments {
  /// Returns the distinct operands in their order; nil if `--all` is given in their place.
  ///
  /// - Parameter name: the name of an operand, for the error.
  func selection(of name: String) throws(UsageError) -> [String]? {
    if has("--all") {
      if operands.isEmpty { return nil }
      throw error("--all and \(name) exclude each other")
    }
    if operands.isEmpty { throw error("\(name) is missing; --all stands for all of them") }
    var seen: Set<String> = []
    return operands.filter { seen.insert($0).inserted }
  }
}

extension CommandForm.Option {
  /// - Parameter what: what is not changed.
  static func dryRun(_ help: String) -> Self { Self(name: "--dry-run", help: help) }

  static let yes = Self(name: "--yes", help: "do not ask for confirmation")
}
