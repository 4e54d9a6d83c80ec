internal import Foundation

/// The folder with the programs of the newest installed Postgres server.
struct Binaries: Hashable, Sendable {
  let folder: String

  func path(_ program: String) -> String { "\(folder)/\(program)" }

  /// Searches the folders in which Debian installs servers, then those of PATH.
  static func find(
    debianRoot: String = "/usr/lib/postgresql",
    searchPath: String = ProcessInfo.processInfo.environment["PATH"] ?? ""
  ) throws(LocalPostgresError) -> Binaries {
    let files = FileManager.default
    let versions = (try? files.contentsOfDirectory(atPath: debianRoot)) ?? []
    // Folders are named 14, 15 …, formerly also 9.6, so that a name parses as a number.
    let newestFirst = versions.compactMap { name in Double(name).map { ($0, name) } }
      .sorted { $0.0 > $1.0 }
    let folders =
      newestFirst.map { "\(debianRoot)/\($0.1)/bin" }
      + searchPath.split(separator: ":").map { String($0) }
    let found = folders.first { folder in
      // A link in PATH, such as Debian's pg_config, may be in another folder than its server.
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
