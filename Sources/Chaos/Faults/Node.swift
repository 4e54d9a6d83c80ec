import Foundation
import LocalPostgres

/// A `ridepulse serve` process that is killed, paused and restarted.
actor Node {
  let name: String
  private let environment: [String: String]
  private let log: String
  private let incidents: IncidentLog
  private let outages: Outages
  private var process: Process?
  private var isPaused = false
  /// The time before which no process is started.
  private var downUntil = ContinuousClock.now
  /// The offset in the log file at which the current process's output begins.
  private var logStart = 0

  /// The host name of APNs by node: they differ, so that the simulator's record shows which node
  /// sent a push.
  static let hosts = ["node-a": "127.0.0.1", "node-b": "localhost"]

  init(
    name: String, environment: [String: String], directory: String, incidents: IncidentLog,
    outages: Outages
  ) {
    self.name = name
    self.environment = environment
    log = "\(directory)/\(name).log"
    self.incidents = incidents
    self.outages = outages
  }

  /// Starts a process without waiting until it serves.
  func start() throws {
    if !FileManager.default.fileExists(atPath: log) {
      _ = FileManager.default.createFile(atPath: log, contents: nil)
    }
    guard let output = FileHandle(forWritingAtPath: log) else {
      throw ChaosFailure("\(log) can't be written")
    }
    logStart = Int(try output.seekToEnd())
    let process = Process()
    process.executableURL = URL(fileURLWithPath: try ServiceBinary.path())
    process.arguments = ["serve"]
    process.environment = environment
    process.standardInput = FileHandle.nullDevice
    process.standardError = output
    try process.run()
    ProcessGuard.shared.hold(process.processIdentifier)
    self.process = process
    incidents.record(.start, from: IncidentLog.now, name)
  }

  /// Ensures that a process runs, as a supervisor does; returns true if it serves.
  ///
  /// A process that ended before it served had no database. One that ended later is a violation.
  @discardableResult func supervise() throws -> Bool {
    guard let process, process.isRunning else {
      if ContinuousClock.now < downUntil { return false }
      if let process { judge(process) }
      try start()
      return false
    }
    return isServing
  }

  private func judge(_ process: Process) {
    let status = process.terminationStatus
    if isServing {
      incidents.find("\(name) ended by itself with status \(status); the end of \(log) says why")
    } else {
      incidents.record(.refusedStart, from: IncidentLog.now, "\(name), status \(status)")
    }
  }

  /// Whether the current process has logged that it serves.
  private var isServing: Bool {
    guard let file = FileHandle(forReadingAtPath: log) else { return false }
    try? file.seek(toOffset: UInt64(logStart))
    let said = (try? file.readToEnd()) ?? nil
    return said.map { String(decoding: $0, as: UTF8.self).contains(" Serving") } ?? false
  }

  /// Ends the process as a crash would, and keeps it down for a while.
  func kill9(downFor duration: Duration = .zero) async {
    guard let process, process.isRunning else { return }
    downUntil = max(downUntil, .now + duration)
    outages.begin(.oneNode)
    incidents.record(.kill, from: IncidentLog.now, name)
    kill(process.processIdentifier, SIGKILL)
    await waitForEnd(of: process)
    self.process = nil
  }

  /// Suspends the process, as a snapshot of its machine does.
  func pause(for duration: Duration) async {
    guard let process, process.isRunning, !isPaused else { return }
    isPaused = true
    defer { isPaused = false }
    outages.begin(.oneNode)
    let start = IncidentLog.now
    kill(process.processIdentifier, SIGSTOP)
    try? await Task.sleep(for: duration)
    kill(process.processIdentifier, SIGCONT)
    incidents.record(
      duration > .seconds(20) ? .longPause : .pause, from: start, to: IncidentLog.now, name)
  }

  /// Stops the process with SIGTERM.
  ///
  /// It must end with status 0 within two minutes.
  func stop() async {
    guard let process, process.isRunning else {
      return incidents.find("\(name) was not running at the end")
    }
    process.terminate()
    let limit = ContinuousClock.now + .seconds(120)
    while process.isRunning, .now < limit { try? await Task.sleep(for: .milliseconds(20)) }
    self.process = nil
    if process.isRunning {
      incidents.find("\(name) did not end within two minutes after SIGTERM")
      kill(process.processIdentifier, SIGKILL)
      return await waitForEnd(of: process)
    }
    let status = process.terminationStatus
    if process.terminationReason != .exit || status != 0 {
      incidents.find("\(name) ended with status \(status) at SIGTERM")
    }
  }

  private func waitForEnd(of process: Process) async {
    while process.isRunning { try? await Task.sleep(for: .milliseconds(20)) }
  }
}
