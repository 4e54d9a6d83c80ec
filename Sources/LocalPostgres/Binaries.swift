internal import Foundation

/// Where the programs of the newest installed Postgres server are.
struct Binaries: Hashable, Sendable {
  let folder: String

  func path(_ program: String) -> String { "\(folder)/\(program)" }

  /// Looks where Debian installs servers, then in the folders of PATH.
  static func find(
    debianRoot: String = "/usr/lib/postgresql",
    searchPath: String = ProcessInfo.processInfo.environment["PATH"] ?? ""
  ) throws(LocalPostgresError) -> Binaries {
    let files = FileManager.default
    let versions = (try? files.contentsOfDirectory(atPath: debianRoot)) ?? []
    // Fewer cases than it looks: folders are named 14, 15 …, once also 9.6.
    let newestFirst = versions.compactMap { name in Double(name).map { ($0, name) } }
      .sorted { $0.0 > $1.0 }
    let folders =
      newestFirst.map { "\(debianRoot)/\($0.1)/bin" }
      + searchPath.split(separator: ":").map { String($0) }
    let found = folders.first { folder in
      // A link in PATH (Debian's pg_config is one) may stand apart from the server it belongs to.
      ["initdb", "postgres", "createdb"].allSatisfy {
        files.isExecutableFile(atPath: "\(folder)/\($0)")
      }
    }
    guard let found else {
      throw .missingBinaries(lookedIn: [debianRoot] + folders)
    }
    return Binaries(folder: found)
  }
}
