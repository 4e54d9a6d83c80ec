import Foundation

/// The clock of the run's Postgres, which rules leases, due times and truth: it can be set ahead and
/// back while the server runs.
///
/// Only ahead of the machine's own, and back to it: the simulator's clock is the machine's, and what
/// is true by a clock that is behind would arrive late by the other.
struct DatabaseClock: Sendable {
  private let file: String
  private let library: String

  /// Nil where libfaketime is not installed.
  init?(directory: String) throws {
    let places = ["x86_64-linux-gnu", "aarch64-linux-gnu"].map {
      "/usr/lib/\($0)/faketime/libfaketimeMT.so.1"
    }
    guard let library = places.first(where: FileManager.default.fileExists(atPath:)) else {
      return nil
    }
    self.library = library
    file = directory + "/clock"
    try set(ahead: 0)
  }

  /// What Postgres must be started with.
  var environment: [String: String] {
    [
      "LD_PRELOAD": library, "FAKETIME_TIMESTAMP_FILE": file, "FAKETIME_CACHE_DURATION": "1",
      // Waits go by the clock that is never set, as they do on a machine whose clock is.
      "FAKETIME_DONT_FAKE_MONOTONIC": "1", "FAKETIME_DONT_RESET": "1",
    ]
  }

  /// Sets it so many seconds ahead; each process of the server sees it within a second.
  func set(ahead seconds: Int) throws {
    try Data("+\(seconds)\n".utf8).write(to: URL(fileURLWithPath: file), options: .atomic)
    try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: file)
  }
}
