internal import Foundation
internal import Synchronization

/// A private Postgres in a directory under /tmp, for tests and the demo.
///
/// It is reachable only over a Unix socket in that directory. Nothing is left after `stop` or after
/// the end of this process, even by SIGKILL.
package final class LocalCluster: Sendable {
  /// What the data must survive.
  package enum Durability: Hashable, Sendable {
    /// Nothing: fsync is off, for tests.
    case fast
    /// Everything that Postgres guarantees by default.
    case real
  }

  /// How the server ends before it starts again.
  package enum RestartMode: Hashable, Sendable {
    /// Without a checkpoint, as after a crash.
    case immediate
    /// Cleanly: connections are ended, then everything is written.
    case fast
  }

  /// The cluster's own directory with data, socket and logs; `stop` removes it.
  package let directory: String
  private let binaries: Binaries
  private let user: ServerUser
  private let reaper: OrphanReaper
  private let settings: [String]
  private let environment: [String: String]
  private let postmaster = Mutex<Postmaster?>(nil)

  /// Creates a cluster and starts it; takes one or two seconds.
  ///
  /// - Parameters:
  ///   - durability: What the data must survive.
  ///   - options: Server settings, each as `name=value`; they override the defaults of this class.
  ///   - environment: Variables for the server, in addition to those of this process.
  ///   - primary: A running cluster, which the new one copies and follows as a standby.
  package init(
    durability: Durability = .fast, options: [String] = [], environment: [String: String] = [:],
    standbyOf primary: LocalCluster? = nil
  ) async throws(LocalStackError) {
    self.environment = environment
    binaries = try Binaries.find()
    user = try ServerUser.choose()
    reaper = try await OrphanReaper.start()
    directory = reaper.directory
    settings = Self.settings(durability, directory: directory) + options
    try user.own(directory)
    if let primary { try await copy(primary) } else { try await initialize() }
    try await start()
  }

  /// Returns a libpq connection string to a database of this cluster, as its superuser.
  package func url(database: String = "postgres") -> String {
    "host=\(directory) port=5432 user=postgres dbname=\(database)"
  }

  /// Starts the server again after `kill`; does nothing if it is running.
  package func start() async throws(LocalStackError) {
    if postmaster.withLock({ $0?.child.isRunning == true }) { return }
    let data = "\(directory)/data"
    // These variables apply to the server only, and not to the program that changes the user.
    let variables =
      environment.isEmpty ? [] : ["/usr/bin/env"] + environment.map { "\($0.key)=\($0.value)" }
    let line =
      variables + [binaries.path("postgres"), "-D", data] + settings.flatMap { ["-c", $0] }
    let started = try await Postmaster.start(
      user.command(line), data: data, log: "\(directory)/postgres.log", limit: .seconds(60))
    postmaster.withLock { $0 = started }
  }

  /// Ends the server and starts it again; the data is kept.
  package func restart(_ mode: RestartMode = .fast) async throws(LocalStackError) {
    await end(mode == .fast ? .fast : .immediate)
    try await start()
  }

  /// Kills the server with SIGKILL, like a machine crash; `start` starts it again.
  package func kill() async {
    await end(.killed)
  }

  /// Ends the server and removes the cluster; it cannot be started again.
  package func stop() async {
    await reaper.dismiss()
  }

  /// Returns the ID of the process that all processes of the server descend from.
  ///
  /// - Throws: The error of Foundation if the server is not running.
  package func postmasterID() throws -> Int32 {
    let text = try String(contentsOfFile: "\(directory)/data/postmaster.pid", encoding: .utf8)
    return text.split(separator: "\n").first.flatMap { Int32($0) } ?? 0
  }

  /// Creates a database as a copy of another, which must have no connections meanwhile.
  package func createDatabase(
    _ name: String, template: String = "template1"
  ) async throws(LocalStackError) {
    let line = [
      binaries.path("createdb"), "--host=\(directory)", "--port=5432", "--username=postgres",
      "--no-password", "--template=\(template)", "--", name,
    ]
    try await execute(line, named: "createdb", log: "\(directory)/createdb-\(name.hashValue).log")
  }

  private func end(_ ending: Postmaster.Ending) async {
    await postmaster.withLock { $0 }?.stop(ending)
  }

  private func initialize() async throws(LocalStackError) {
    let line = [
      binaries.path("initdb"), "--pgdata=\(directory)/data", "--username=postgres",
      "--auth=trust", "--encoding=UTF8", "--locale=C", "--no-sync", "--no-instructions",
    ]
    try await execute(user.command(line), named: "initdb", log: "\(directory)/initdb.log")
  }

  private func copy(_ primary: LocalCluster) async throws(LocalStackError) {
    let line = [
      binaries.path("pg_basebackup"), "--pgdata=\(directory)/data", "--host=\(primary.directory)",
      "--port=5432", "--username=postgres", "--no-password", "--checkpoint=fast",
      "--write-recovery-conf", "--no-sync",
    ]
    try await execute(
      user.command(line), named: "pg_basebackup", log: "\(directory)/pg_basebackup.log")
  }

  private func execute(
    _ line: [String], named program: String, log: String
  ) async throws(LocalStackError) {
    let child = try ChildProcess.logged(line, in: directory, to: log)
    guard await child.waitForEnd().status == 0 else {
      throw .failed(program: program, output: LogFile.tail(log))
    }
  }

  private static func settings(_ durability: Durability, directory: String) -> [String] {
    let common = [
      "listen_addresses=", "unix_socket_directories=\(directory)", "port=5432",
      "unix_socket_permissions=0700", "shared_buffers=32MB", "timezone=UTC", "max_connections=300",
      // Other kinds use /dev/shm, where a killed server would leave its memory.
      "dynamic_shared_memory_type=mmap",
    ]
    let volatile = ["fsync=off", "synchronous_commit=off", "full_page_writes=off"]
    return durability == .fast ? common + volatile : common
  }
}

extension LocalCluster {
  private static let sharing = Mutex<Task<LocalCluster, any Error>?>(nil)

  /// Returns the one fast cluster of this process, created at the first call and removed with the
  /// process.
  package static func shared() async throws -> LocalCluster {
    let task = sharing.withLock { task in
      let current = task ?? Task { try await LocalCluster() }
      task = current
      return current
    }
    return try await task.value
  }

  /// Creates a database with a name that this process has not used, and returns its connection
  /// string.
  ///
  /// A template must have no connections meanwhile. The database is dropped only with the cluster.
  package func freshDatabase(
    template: String = "template1"
  ) async throws(LocalStackError) -> String {
    let name = "fresh_\(Self.freshNumber.wrappingAdd(1, ordering: .relaxed).newValue)"
    try await createDatabase(name, template: template)
    return url(database: name)
  }

  private static let freshNumber = Atomic(0)
}

/// The reason why a private Postgres cannot be started.
package enum LocalStackError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The server's programs are not installed.
  case missingBinaries(lookedIn: [String])
  /// PgBouncer is not installed.
  case missingPgBouncer(lookedIn: [String])
  /// Patroni is not installed, or lacks the controller of its own quorum.
  case missingPatroni(lookedIn: [String])
  /// The directory of the cluster cannot be created, or its owner cannot be changed.
  case directory(reason: String)
  /// A program of Postgres failed; `output` is its last output.
  case failed(program: String, output: String)
  /// The server did not accept connections, or did not end, in time.
  case tooSlow(what: String, output: String)

  /// What happened, and what to do about it if that is known.
  package var description: String {
    switch self {
    case .missingBinaries(let paths):
      "Postgres is not installed (no initdb in \(paths.joined(separator: ", "))): "
        + "install the Debian package `postgresql`"
    case .missingPgBouncer(let paths):
      "PgBouncer is not installed (not in \(paths.joined(separator: ", "))): "
        + "install the Debian package `pgbouncer`"
    case .missingPatroni(let paths):
      "Patroni is not installed (no \(paths.joined(separator: ", "))): "
        + "install the Debian packages `patroni` and `python3-pysyncobj`"
    case .directory(let reason): "no directory for a private Postgres: \(reason)"
    case .failed(let program, let output): "\(program) failed: \(output)"
    case .tooSlow(let what, let output): "\(what) took too long: \(output)"
    }
  }
}
