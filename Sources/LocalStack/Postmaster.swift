internal import Foundation
internal import Glibc

/// A running Postgres server.
struct Postmaster: Sendable {
  /// How the server is ended.
  enum Ending: Sendable { case fast, immediate, killed }

  let child: ChildProcess
  private let data: String
  private let log: String

  /// Starts the server, and returns when it accepts connections.
  static func start(
    _ line: [String], data: String, log: String, limit: Duration
  ) async throws(LocalStackError) -> Postmaster {
    let child = try ChildProcess.logged(line, in: data, to: log)
    let postmaster = Postmaster(child: child, data: data, log: log)
    let outcome = await Blocking.run { () throws(LocalStackError) in
      try postmaster.waitUntilReady(limit: limit)
    }
    do throws(LocalStackError) {
      try outcome.get()
    } catch {
      await postmaster.stop(.killed)
      throw error
    }
    return postmaster
  }

  func stop(_ ending: Ending) async {
    let signal =
      switch ending {
      case .fast: SIGINT
      case .immediate: SIGQUIT
      case .killed: SIGKILL
      }
    child.send(signal: signal)
    await child.waitForEnd()
    guard ending == .killed else { return }
    _ = await Blocking.run { waitForChildren(limit: .seconds(10)) }
  }

  /// Waits until the server's state is `ready`: the eighth line of its pid file, which `pg_ctl`
  /// reads.
  private func waitUntilReady(limit: Duration) throws(LocalStackError) {
    let end = ContinuousClock.now + limit
    while ContinuousClock.now < end {
      if !child.isRunning { throw .failed(program: "postgres", output: LogFile.tail(log)) }
      let text = (try? String(contentsOfFile: "\(data)/postmaster.pid", encoding: .utf8)) ?? ""
      let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
      if lines.count >= 8, lines[0] == "\(child.pid)", lines[7].hasPrefix("ready") { return }
      usleep(5_000)
    }
    throw .tooSlow(what: "the start of Postgres", output: LogFile.tail(log))
  }

  /// Waits for the children of a killed server, which notice its end only a moment later: a new
  /// server refuses to start while they exist.
  private func waitForChildren(limit: Duration) {
    let end = ContinuousClock.now + limit
    while ContinuousClock.now < end, Self.hasProcess(in: data) { usleep(5_000) }
  }

  private static func hasProcess(in folder: String) -> Bool {
    let files = FileManager.default
    let processes = (try? files.contentsOfDirectory(atPath: "/proc")) ?? []
    return processes.contains { process in
      guard process.first?.isNumber == true else { return false }
      return (try? files.destinationOfSymbolicLink(atPath: "/proc/\(process)/cwd")) == folder
    }
  }
}

/// The user that the server runs as, because Postgres refuses to run as root.
package enum ServerUser: Hashable, Sendable {
  /// The caller is an ordinary user.
  case caller
  /// The caller is root and changes to this user.
  case other(name: String, id: UInt32, group: UInt32)

  package static func choose() throws(LocalStackError) -> ServerUser {
    guard geteuid() == 0 else { return .caller }
    for name in ["postgres", "nobody"] {
      guard let entry = unsafe getpwnam(name) else { continue }
      return unsafe .other(name: name, id: entry.pointee.pw_uid, group: entry.pointee.pw_gid)
    }
    throw .directory(reason: "root has no user `postgres` or `nobody` to step down to")
  }

  /// Returns a command line that replaces itself with another one, run as this user.
  package func command(_ line: [String]) -> [String] {
    switch self {
    case .caller: line
    case .other(_, let id, let group):
      ["/usr/bin/setpriv", "--reuid=\(id)", "--regid=\(group)", "--clear-groups", "--"] + line
    }
  }

  package func own(_ path: String) throws(LocalStackError) {
    guard case .other(_, let id, let group) = self else { return }
    guard unsafe chown(path, id, group) == 0 else {
      throw .directory(reason: unsafe String(cString: strerror(errno)))
    }
  }
}

/// The folder with the programs of the newest installed Postgres server.
package struct Binaries: Hashable, Sendable {
  package let folder: String

  package func path(_ program: String) -> String { "\(folder)/\(program)" }

  /// Searches the folders in which Debian installs servers, then those of PATH.
  package static func find(
    debianRoot: String = "/usr/lib/postgresql",
    searchPath: String = ProcessInfo.processInfo.environment["PATH"] ?? ""
  ) throws(LocalStackError) -> Binaries {
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
