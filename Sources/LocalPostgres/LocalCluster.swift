internal import Foundation
internal import Synchronization

/// A Postgres of one's own in a directory under /tmp, for tests and the demo.
///
/// It can only be reached over a unix socket in that directory. Nothing of it is left after `stop`
/// or after the end of this process, even by SIGKILL.
package final class LocalCluster: Sendable {
  /// What the data has to survive.
  package enum Durability: Hashable, Sendable {
    /// Nothing: no fsync, for tests.
    case fast
    /// What Postgres promises by default.
    case real
  }

  /// How to end the server before it starts again.
  package enum RestartMode: Hashable, Sendable {
    /// Without a checkpoint, as after a crash.
    case immediate
    /// In order: connections are ended, then everything is written.
    case fast
  }

  /// The cluster's own directory: data, socket and logs; gone after `stop`.
  package let directory: String
  private let binaries: Binaries
  private let user: ServerUser
  private let guardian: Guardian
  private let settings: [String]
  private let environment: [String: String]
  private let postmaster = Mutex<Postmaster?>(nil)

  /// Makes a cluster and starts it; takes one or two seconds.
  ///
  /// - Parameters:
  ///   - durability: what the data has to survive.
  ///   - options: server settings, each as `name=value`; they win over the ones made here.
  ///   - environment: variables of the server's own, beside those of this process.
  package init(
    durability: Durability = .fast, options: [String] = [], environment: [String: String] = [:]
  ) async throws(LocalPostgresError) {
    self.environment = environment
    binaries = try Binaries.find()
    user = try ServerUser.choose()
    guardian = try await Guardian.start()
    directory = guardian.directory
    settings = Self.settings(durability, directory: directory) + options
    try user.own(directory)
    try await initialize()
    try await start()
  }

  /// A connection string for libpq, to a database of this cluster as its superuser.
  package func url(database: String = "postgres") -> String {
    "host=\(directory) port=5432 user=postgres dbname=\(database)"
  }

  /// Starts the server again after `kill`; does nothing while it runs.
  package func start() async throws(LocalPostgresError) {
    if postmaster.withLock({ $0?.child.hasEnded == false }) { return }
    let data = "\(directory)/data"
    // The server's own, and not of what starts it under another user.
    let variables =
      environment.isEmpty ? [] : ["/usr/bin/env"] + environment.map { "\($0.key)=\($0.value)" }
    let line =
      variables + [binaries.path("postgres"), "-D", data] + settings.flatMap { ["-c", $0] }
    let started = try await Postmaster.start(
      user.command(line), data: data, log: "\(directory)/postgres.log", limit: .seconds(60))
    postmaster.withLock { $0 = started }
  }

  /// Ends the server and starts it again; the data stays.
  package func restart(_ mode: RestartMode = .fast) async throws(LocalPostgresError) {
    await end(mode == .fast ? .fast : .immediate)
    try await start()
  }

  /// Kills the server with SIGKILL, as a crash of the machine would; `start` brings it back.
  package func kill() async {
    await end(.killed)
  }

  /// Ends the server and removes all of the cluster; it cannot be started again.
  package func stop() async {
    await guardian.dismiss()
  }

  /// The process that all processes of the server descend from.
  ///
  /// - Throws: what Foundation throws while the server does not run.
  package func postmasterID() throws -> Int32 {
    let text = try String(contentsOfFile: "\(directory)/data/postmaster.pid", encoding: .utf8)
    return text.split(separator: "\n").first.flatMap { Int32($0) } ?? 0
  }

  /// Makes a database as a copy of another, to which nobody may be connected meanwhile.
  package func createDatabase(
    _ name: String, template: String = "template1"
  ) async throws(LocalPostgresError) {
    let line = [
      binaries.path("createdb"), "--host=\(directory)", "--port=5432", "--username=postgres",
      "--no-password", "--template=\(template)", "--", name,
    ]
    try await execute(line, named: "createdb", log: "\(directory)/createdb-\(name.hashValue).log")
  }

  private func end(_ ending: Postmaster.Ending) async {
    await postmaster.withLock { $0 }?.stop(ending)
  }

  private func initialize() async throws(LocalPostgresError) {
    let line = [
      binaries.path("initdb"), "--pgdata=\(directory)/data", "--username=postgres",
      "--auth=trust", "--encoding=UTF8", "--locale=C", "--no-sync", "--no-instructions",
    ]
    try await execute(user.command(line), named: "initdb", log: "\(directory)/initdb.log")
  }

  private func execute(
    _ line: [String], named program: String, log: String
  ) async throws(LocalPostgresError) {
    let child = try Child(line, in: directory, output: LogFile.open(log))
    guard await child.waitForEnd() == 0 else {
      throw .failed(program: program, output: LogFile.tail(log))
    }
  }

  private static func settings(_ durability: Durability, directory: String) -> [String] {
    let common = [
      "listen_addresses=", "unix_socket_directories=\(directory)", "port=5432",
      "unix_socket_permissions=0700", "shared_buffers=32MB", "timezone=UTC", "max_connections=300",
      // The other kind lies in /dev/shm, where a killed server would leave it.
      "dynamic_shared_memory_type=mmap",
    ]
    let careless = ["fsync=off", "synchronous_commit=off", "full_page_writes=off"]
    return durability == .fast ? common + careless : common
  }
}
