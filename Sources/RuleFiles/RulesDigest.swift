import RideCore

/// Identifies the contents of the rule files, as the ledger names them.
///
/// It hashes the files and not their meaning, so that it can be computed by hand for any commit:
/// `cd schedules && LC_ALL=C sha256sum -- [!_.]*.yaml | sha256sum`.
enum RulesDigest {
  static func of(_ files: [(name: String, bytes: [UInt8])]) -> String {
    let lines = files.map { file in
      (name: Array(file.name.utf8.split(separator: UInt8(ascii: "/")).last ?? []), file.bytes)
    }.sorted { $0.name.lexicographicallyPrecedes($1.name) }
      .map { name, bytes in Array("\(hexadecimal(bytes))  ".utf8) + name + [UInt8(ascii: "\n")] }
    return hexadecimal(lines.joined())
  }

  private static func hexadecimal(_ bytes: some Sequence<UInt8>) -> String {
    SHA256.digest(bytes).map { byte in
      String(byte >> 4, radix: 16) + String(byte & 15, radix: 16)
    }.joined()
  }
}
