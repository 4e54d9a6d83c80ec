import Base

/// The rule files and the program version that decisions are made with, as the ledger names them.
package struct Revision: Hashable, Sendable {
  /// `RuleSet.digest` of the rule files.
  package let rules: String
  /// The version of the program.
  package let version: String
  /// The number that ledger rows have in `decided_by`: 32 bits of a hash of the other two.
  ///
  /// It is known without the database, so that a reload waits for nothing and no row is written
  /// without it.
  package let id: Int32

  package init(rules: String, version: String) {
    self.rules = rules
    self.version = version
    let bits = SHA256.digest("\(rules) \(version)".utf8).prefix(4)
    id = Int32(bitPattern: bits.reduce(0) { $0 << 8 | UInt32($1) })
  }
}
