import Base
import RideCore

/// Identifies the contents of the rule files, as the ledger names them.
///
/// It hashes the files and not their meaning, so that it can be computed by hand for any commit:
/// `cd schedules && LC_ALL=C sha256sum -- [!_.]*.yaml | sha256sum`, and if there are strings
/// `strings/[!_.]*.yaml` as a second argument; tests next to the rules are left out.
enum RulesDigest {
  static func of(
    _ files: [(name: String, bytes: [UInt8])], strings: [(name: String, bytes: [UInt8])] = []
  ) -> String {
    SHA256.hex(SHA256.digest(lines(files, in: "") + lines(strings, in: "strings/")))
  }

  private static func lines(
    _ files: [(name: String, bytes: [UInt8])], in folder: String
  ) -> [UInt8] {
    var lines: [(name: [UInt8], sum: String)] = []
    for file in files {
      let name = file.name.utf8.reversed().prefix { $0 != UInt8(ascii: "/") }.reversed()
      lines.append((Array(folder.utf8) + name, SHA256.hex(SHA256.digest(file.bytes))))
    }
    lines.sort { $0.name.lexicographicallyPrecedes($1.name) }
    var list: [UInt8] = []
    for line in lines {
      list += Array("\(line.sum)  ".utf8) + line.name + [UInt8(ascii: "\n")]
    }
    return list
  }
}
