internal import Foundation
internal import Glibc

/// A running Postgres server.
struct Postmaster: Sendable {
  /// How the server is ended.
  enum Ending: Sendable { case fast, immediate, killed }

  let child: Child
  private let data: String
  private let log: String

  /// Starts the server, and returns when it accepts connections.
  static func start(
    _ line: [String], data: String, log: String, limit: Duration
  ) async throws(LocalPostgresError) -> Postmaster {
    let output = try LogFile.open(log)
    let child = try Child(line, in: data, output: output)
    let postmaster = Postmaster(child: child, data: data, log: log)
    let outcome = await Blocking.run { () throws(LocalPostgresError) in
      try postmaster.waitUntilReady(limit: limit)
    }
    do throws(LocalPostgresError) {
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
    _ = await child.waitForEnd()
    guard ending == .killed else { return }
    _ = await Blocking.run { waitUntilDeserted(limit: .seconds(10)) }
  }

  /// Waits until the server's state is `ready`: the eighth line of its pid file, which `pg_ctl`
  /// reads.
  private func waitUntilReady(limit: Duration) throws(LocalPostgresError) {
    let end = ContinuousClock.now + limit
    while ContinuousClock.now < end {
      if child.hasEnded { throw .failed(program: "postgres", output: LogFile.tail(log)) }
      let text = (try? String(contentsOfFile: "\(data)/postmaster.pid", encoding: .utf8)) ?? ""
      let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
      if lines.count >= 8, lines[0] == "\(child.pid)", lines[7].hasPrefix("ready") { return }
      usleep(5_000)
    }
    throw .tooSlow(what: "the start of Postgres", output: LogFile.tail(log))
  }

  /// Waits for the children of a killed server, which notice its end only a moment later: a new
  /// server refuses to start while they exist.
  private func waitUntilDeserted(limit: Duration) {
    let end = ContinuousClock.now + limit
    while ContinuousClock.now < end, Self.isSomeoneInside(data) { usleep(5_000) }
  }

  private static func isSomeoneInside(_ folder: String) -> Bool {
    let files = FileManager.default
    let processes = (try? files.contentsOfDirectory(atPath: "/proc")) ?? []
    return processes.contains { process in
      guard process.first?.isNumber == true else { return false }
      return (try? files.destinationOfSymbolicLink(atPath: "/proc/\(process)/cwd")) == folder
    }
  }
}
