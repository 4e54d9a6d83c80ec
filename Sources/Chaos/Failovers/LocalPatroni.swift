import Base
import Foundation
import Glibc
import LocalStack
import Synchronization

/// A private Patroni cluster on 127.0.0.1: two Postgres servers, of which one is the primary, and a
/// third member that only votes.
///
/// It takes Debian's `patroni` and `python3-pysyncobj`. Nothing is left after `stop` or after the
/// end of this process, even by SIGKILL.
final class LocalPatroni: Sendable {
  /// The members with data; `voter` has none.
  static let members = ["one", "two"]
  private static let voter = "voter"

  /// The directory with a folder for each member; `stop` removes it.
  let directory: String
  private let replication: Replication
  private let binaries: Binaries
  private let user: ServerUser
  private let reaper: OrphanReaper
  private let ports: [String: PatroniPorts]
  private let children = Mutex<[String: ChildProcess]>([:])

  private static let program = "/usr/bin/patroni"
  private static let controller = "/usr/bin/patroni_raft_controller"

  /// Creates the cluster, starts it, and waits until a standby follows the primary: about ten
  /// seconds.
  init(_ replication: Replication) async throws(LocalStackError) {
    let missing = [Self.program, Self.controller].filter {
      !FileManager.default.isExecutableFile(atPath: $0)
    }
    guard missing.isEmpty else { throw .missingPatroni(lookedIn: missing) }
    self.replication = replication
    binaries = try Binaries.find()
    user = try ServerUser.choose()
    reaper = try await OrphanReaper.start()
    directory = reaper.directory
    let free = try FreePorts.find(9)
    ports = Dictionary(
      uniqueKeysWithValues: (Self.members + [Self.voter]).enumerated().map { index, name in
        let own = free[(index * 3)...]
        let (first, second, third) = (own.startIndex, own.startIndex + 1, own.startIndex + 2)
        return (name, PatroniPorts(postgres: own[first], rest: own[second], raft: own[third]))
      })
    try writeSettings()
    for name in [Self.voter] + Self.members { try start(name) }
    _ = try await waitUntilRedundant(limit: .seconds(120))
  }

  /// Returns a libpq connection string to whichever server is the primary, as its superuser.
  func url(database: String = "postgres") -> String {
    let list = Self.members.compactMap { ports[$0].map { "\($0.postgres)" } }
    let hosts = list.map { _ in "127.0.0.1" }
    return "host=\(hosts.joined(separator: ",")) port=\(list.joined(separator: ",")) "
      + "user=postgres dbname=\(database) target_session_attrs=read-write"
  }

  /// Returns a libpq connection string to one member, primary or not.
  func url(of member: String, database: String = "postgres") -> String {
    "host=127.0.0.1 port=\(ports[member]?.postgres ?? 0) user=postgres dbname=\(database)"
  }

  /// Starts a member that was killed; it rejoins as a standby by pg_rewind or as a new copy.
  func start(_ name: String) throws(LocalStackError) {
    let folder = "\(directory)/\(name)"
    let program = name == Self.voter ? Self.controller : Self.program
    let child = try ChildProcess.logged(
      user.command([program, "\(folder)/patroni.yml"]), in: folder, to: log(of: name))
    children.withLock { $0[name] = child }
  }

  /// Kills a member with SIGKILL, Patroni and Postgres together, as the loss of its machine does.
  func kill(_ name: String) async throws(LocalStackError) {
    let outcome = await Blocking.run { () throws(LocalStackError) in
      try self.tree(name).end(limit: .seconds(10))
    }
    try outcome.get()
    _ = await children.withLock { $0[name] }?.waitForEnd()
  }

  /// Suspends all processes of a member: its sessions stay open and get no answer, as on a machine
  /// that hangs. Only `kill` ends that.
  func freeze(_ name: String) {
    // Twice: a process may start another one meanwhile.
    for _ in 0..<2 { tree(name).send(signal: SIGSTOP) }
  }

  /// Suspends the processes of a primary that send its log to the standby, as a slow network does.
  func delayReplication(from name: String) throws(LocalStackError) {
    let senders = tree(name).ids(titled: "walsender")
    guard !senders.isEmpty else {
      throw .failed(program: "patroni", output: "\(name) has no standby; \(tail(of: name))")
    }
    for id in senders { Glibc.kill(id, SIGSTOP) }
  }

  /// Moves the primary to the other member without losing anything.
  func switchOver(from leader: String) async throws(LocalStackError) {
    let body = #"{"leader": "\#(leader)"}"#
    guard await request(leader, "switchover", body: body) != nil else {
      throw .failed(program: "patroni", output: "refused a switchover; \(tail(of: leader))")
    }
  }

  /// Waits until a primary runs with a standby that follows it.
  func waitUntilRedundant(limit: Duration) async throws(LocalStackError) -> PatroniStatus {
    let end = ContinuousClock.now + limit
    while ContinuousClock.now < end {
      if let status = await status(), status.isRedundant(replication) { return status }
      try? await Task.sleep(for: .milliseconds(200))
    }
    let tails = Self.members.map { "\($0): \(tail(of: $0))" }
    throw .tooSlow(what: "the cluster of Patroni", output: tails.joined(separator: "; "))
  }

  /// Returns the state of the cluster as the first member that answers reports it.
  func status() async -> PatroniStatus? {
    for name in Self.members {
      if let text = await request(name, "cluster"), let status = PatroniStatus(json: text) {
        return status
      }
    }
    return nil
  }

  /// Copies the logs of the members, and what `pg_waldump` printed, into a directory.
  func copyLogs(to folder: String) {
    let files = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
    for file in files where file.hasSuffix(".log") {
      try? FileManager.default.copyItem(
        atPath: "\(directory)/\(file)", toPath: "\(folder)/patroni-\(file)")
    }
  }

  /// Ends all members and removes the cluster.
  func stop() async {
    await reaper.dismiss()
  }

  /// Returns the position at which a member began its timeline; nil for the first one.
  func switchPoint(of timeline: Int, on member: String) -> String? {
    let file = String(timeline, radix: 16, width: 8).uppercased() + ".history"
    let text = try? String(
      contentsOfFile: "\(directory)/\(member)/data/pg_wal/\(file)", encoding: .utf8)
    let last = text?.split(separator: "\n").last?.split(separator: "\t")
    return last.flatMap { $0.count > 1 ? String($0[1]) : nil }
  }

  /// Returns the transactions that a killed primary committed on a timeline after a position: the
  /// ones that the failover lost.
  func commits(
    of member: String, after position: String, timeline: Int
  ) async throws(LocalStackError) -> Set<Int64> {
    let list = "\(directory)/lost-\(timeline).log"
    let child = try ChildProcess(
      [
        binaries.path("pg_waldump"), "--rmgr=Transaction", "--timeline=\(timeline)",
        "--path=\(directory)/\(member)/data/pg_wal", "--start=\(position)",
      ], environment: ChildProcess.bareEnvironment, output: .log(list), errors: .log(list + ".err"))
    // Its status tells nothing: the log of a killed server ends without a last record.
    await child.waitForEnd()
    return Set(PatroniLog.commits(in: (try? String(contentsOfFile: list, encoding: .utf8)) ?? ""))
  }

  private func tree(_ name: String) -> ProcessTree { ProcessTree(folder: "\(directory)/\(name)") }

  private func log(of name: String) -> String { "\(directory)/\(name).log" }

  private func tail(of name: String) -> String { LogFile.tail(log(of: name)) }

  private func writeSettings() throws(LocalStackError) {
    let settings = PatroniSettings(
      directory: directory, binaries: binaries.folder, replication: replication, ports: ports)
    for name in ports.keys {
      let folder = "\(directory)/\(name)"
      let text = name == Self.voter ? settings.controller(name) : settings.member(name)
      do {
        try FileManager.default.createDirectory(
          atPath: folder + "/raft", withIntermediateDirectories: true)
        try Data(text.utf8).write(to: URL(fileURLWithPath: folder + "/patroni.yml"))
      } catch {
        throw .directory(reason: "\(error)")
      }
      for path in [folder, folder + "/raft"] { try user.own(path) }
    }
    try user.own(directory)
  }

  /// Returns the answer of a member's REST API; nil if it does not answer or refuses.
  private func request(_ name: String, _ path: String, body: String? = nil) async -> String? {
    let file = "\(directory)/answer-\(UUID().uuidString)"
    let line =
      [
        "/usr/bin/curl", "--silent", "--fail", "--max-time", body == nil ? "2" : "60", "--output",
        file, "http://127.0.0.1:\(ports[name]?.rest ?? 0)/\(path)",
      ] + (body.map { ["--json", $0] } ?? [])
    defer { try? FileManager.default.removeItem(atPath: file) }
    let child = try? ChildProcess(line, environment: ChildProcess.bareEnvironment, output: .null)
    guard let child, await child.waitForEnd().status == 0 else { return nil }
    return String(decoding: FileManager.default.contents(atPath: file) ?? Data(), as: UTF8.self)
  }
}

/// What `pg_waldump` prints.
enum PatroniLog {
  /// Returns the transactions that committed, by their IDs.
  ///
  /// A line is `rmgr: Transaction len (rec/tot): 34/34, tx: 733, lsn: …, desc: COMMIT 2026-…`.
  static func commits(in text: String) -> [Int64] {
    text.split(separator: "\n").compactMap { line in
      guard line.contains("desc: COMMIT "),
        let number = line.firstRange(of: " tx: ").map({ line[$0.upperBound...] })
      else { return nil }
      return Int64(number.drop { $0 == " " }.prefix { $0.isNumber })
    }
  }
}
