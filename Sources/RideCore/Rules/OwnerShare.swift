import Base

/// `share('NAME')` in `if`: a number that divides owners into fixed parts.
///
/// docs/rules.md has the same as an SQL expression, so it is a promise to data analysts.
enum OwnerShare {
  /// Returns a number in [0, 1): the first 32 bits of SHA-256 of `NAME/OWNER`, divided by 2^32.
  static func of(_ owner: OwnerID, named name: String) -> Double {
    Double(bits(of: owner.text, named: name)) / 4_294_967_296
  }

  /// Returns the first 32 bits of SHA-256 of `NAME/ID`.
  static func bits(of id: String, named name: String) -> UInt64 {
    let digest = SHA256.digest("\(name)/\(id)".utf8)
    return digest.prefix(4).reduce(0) { $0 << 8 | UInt64($1) }
  }
}
