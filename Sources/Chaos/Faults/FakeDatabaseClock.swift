import Foundation

/// The clock of the run's Postgres, which determines leases, due times and validity.
///
/// It can be changed while the server runs, but only ahead of the machine's clock and back to it:
/// the simulator uses the machine's clock, so a push that is still valid by a slower database clock
/// would arrive late. After a step back of an hour, retries that were due by the clock before it are
/// due in an hour: `makeAllDue` ends a run with such steps.
struct FakeDatabaseClock: Sendable {
  private let file: String
  private let library: String

  /// Returns nil if libfaketime is not installed.
  init?(directory: String) throws {
    let paths = ["x86_64-linux-gnu", "aarch64-linux-gnu"].map {
      "/usr/lib/\($0)/faketime/libfaketimeMT.so.1"
    }
    guard let library = paths.first(where: FileManager.default.fileExists(atPath:)) else {
      return nil
    }
    self.library = library
    file = directory + "/clock"
    try set(ahead: 0)
  }

  /// The environment that Postgres must be started with.
  var environment: [String: String] {
    [
      "LD_PRELOAD": library, "FAKETIME_TIMESTAMP_FILE": file, "FAKETIME_CACHE_DURATION": "1",
      // Waits use the monotonic clock, as they do on a machine whose wall clock is set.
      "FAKETIME_DONT_FAKE_MONOTONIC": "1", "FAKETIME_DONT_RESET": "1",
    ]
  }

  /// The length of the longest step, in seconds.
  static let hour = 3_600

  /// Sets the clock further ahead than any step of the run did.
  func makeAllDue() throws { try set(ahead: 2 * Self.hour) }

  /// Sets the clock this many seconds ahead; every server process adopts the change within a second.
  func set(ahead seconds: Int) throws {
    try Data("+\(seconds)\n".utf8).write(to: URL(fileURLWithPath: file), options: .atomic)
    try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: file)
  }
}
