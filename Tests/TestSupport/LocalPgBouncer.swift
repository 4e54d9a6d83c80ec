internal import Foundation
internal import Glibc
package import LocalStack

/// A PgBouncer in front of a private Postgres, for tests of the effects of a pooler on a service.
///
/// It is reachable only over a Unix socket in its own directory, and ends with this process, even
/// by SIGKILL.
package final class LocalPgBouncer: Sendable {
  /// When a client releases its server connection.
  package enum PoolMode: String, Sendable {
    /// When the client disconnects.
    case session
    /// After each transaction.
    case transaction
  }

  private let reaper: OrphanReaper
  private let child: ChildProcess
  private var log: String { "\(reaper.directory)/pgbouncer.log" }

  /// Starts PgBouncer, and returns when it accepts connections.
  ///
  /// - Parameters:
  ///   - cluster: The Postgres behind it, with all its databases.
  ///   - mode: When a client releases its server connection.
  ///   - poolSize: The maximum number of connections to each database.
  package init(
    before cluster: LocalCluster, mode: PoolMode, poolSize: Int = 4
  ) async throws(LocalStackError) {
    let binary = try Self.binary()
    let user = try ServerUser.choose()
    reaper = try await OrphanReaper.start()
    let directory = reaper.directory
    try user.own(directory)
    let settings = Self.settings(cluster, directory: directory, mode: mode, poolSize: poolSize)
    guard FileManager.default.createFile(atPath: "\(directory)/users.txt", contents: Self.users),
      FileManager.default.createFile(atPath: "\(directory)/pgbouncer.ini", contents: settings)
    else { throw .directory(reason: "\(directory) cannot be written") }
    child = try ChildProcess.logged(
      user.command([binary, "\(directory)/pgbouncer.ini"]), in: directory,
      to: "\(directory)/pgbouncer.log")
    let outcome = await Blocking.run { () throws(LocalStackError) in try self.waitUntilReady() }
    try outcome.get()
  }

  /// Returns a libpq connection string to a database of the cluster, as its superuser.
  package func url(database: String) -> String {
    "host=\(reaper.directory) port=6432 user=postgres dbname=\(database)"
  }

  /// Ends PgBouncer and removes its directory.
  package func stop() async {
    await reaper.dismiss()
  }

  private func waitUntilReady() throws(LocalStackError) {
    let end = ContinuousClock.now + .seconds(60)
    while ContinuousClock.now < end {
      if !child.isRunning { throw .failed(program: "pgbouncer", output: LogFile.tail(log)) }
      // The last line that PgBouncer logs before it accepts connections.
      if LogFile.tail(log).contains("process up") { return }
      usleep(5_000)  // poll: a log that another process writes
    }
    throw .tooSlow(what: "the start of PgBouncer", output: LogFile.tail(log))
  }

  /// Debian installs it in /usr/sbin, which is not in the PATH of ordinary users.
  private static func binary() throws(LocalStackError) -> String {
    let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
    let folders = ["/usr/sbin", "/usr/bin"] + path.split(separator: ":").map { String($0) }
    let found = folders.map { "\($0)/pgbouncer" }
      .first { FileManager.default.isExecutableFile(atPath: $0) }
    guard let found else { throw .missingPgBouncer(lookedIn: folders) }
    return found
  }

  private static let users = Data("\"postgres\" \"\"\n".utf8)

  private static func settings(
    _ cluster: LocalCluster, directory: String, mode: PoolMode, poolSize: Int
  ) -> Data {
    Data(
      """
      [databases]
      * = host=\(cluster.directory) port=5432
      [pgbouncer]
      listen_addr =
      listen_port = 6432
      unix_socket_dir = \(directory)
      auth_type = trust
      auth_file = \(directory)/users.txt
      pool_mode = \(mode.rawValue)
      default_pool_size = \(poolSize)

      """.utf8)
  }
}
