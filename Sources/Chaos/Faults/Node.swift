import Foundation
import LocalStack

/// A `ridepulse serve` process that is killed, paused and restarted.
actor Node {
  let name: String
  /// The binary of the next process.
  private var program: String
  private let environment: [String: String]
  private let log: String
  private let incidents: IncidentLog
  private let outages: Outages
  private var process: ChildProcess?
  private var isPaused = false
  /// The time before which no process is started.
  private var downUntil = ContinuousClock.now
  /// The offset in the log file at which the current process's output begins.
  private var logStart: UInt64 = 0

  /// The host name of APNs by node: they differ, so that the simulator's record shows which node
  /// sent a push.
  static let hosts = ["node-a": "127.0.0.1", "node-b": "localhost"]

  init(
    name: String, program: String, environment: [String: String], directory: String,
    incidents: IncidentLog, outages: Outages
  ) {
    self.name = name
    self.program = program
    self.environment = environment
    log = "\(directory)/\(name).log"
    self.incidents = incidents
    self.outages = outages
  }

  /// Starts a process without waiting until it serves.
  func start() throws {
    logStart = (try? FileHandle(forReadingFrom: URL(fileURLWithPath: log)).seekToEnd()) ?? 0
    let process = try ChildProcess(
      [program, "serve"], environment: environment, errors: .log(log))
    ProcessGuard.shared.hold(process.pid)
    self.process = process
    incidents.record(.start, from: IncidentLog.now, name)
  }

  /// Ensures that a process runs, as a supervisor does; returns true if it serves.
  ///
  /// A process that ended before it served had no database. One that ended later is a violation.
  @discardableResult func supervise() throws -> Bool {
    guard let process, process.isRunning else {
      if ContinuousClock.now < downUntil { return false }
      if let process { recordEnd(of: process) }
      try start()
      return false
    }
    return isServing
  }

  private func recordEnd(of process: ChildProcess) {
    let status = process.ending?.status ?? 0
    if isServing, incidents.poisonedRides > 0 {
      incidents.record(.crash, from: IncidentLog.now, name)
    } else if isServing {
      incidents.recordViolation(
        "\(name) ended by itself with status \(status); see the end of \(log)")
    } else {
      incidents.record(.refusedStart, from: IncidentLog.now, "\(name), status \(status)")
    }
  }

  /// Whether the current process has logged that it serves.
  private var isServing: Bool {
    guard let file = FileHandle(forReadingAtPath: log) else { return false }
    try? file.seek(toOffset: logStart)
    let text = (try? file.readToEnd()) ?? nil
    return text.map { String(decoding: $0, as: UTF8.self).contains(" Serving") } ?? false
  }

  /// Ends the process as a crash would, and keeps it down for a while.
  func kill9(downFor duration: Duration = .zero) async {
    guard let process, process.isRunning else { return }
    downUntil = max(downUntil, .now + duration)
    outages.begin(.oneNode)
    incidents.record(.kill, from: IncidentLog.now, name)
    process.send(signal: SIGKILL)
    await process.waitForEnd()
    self.process = nil
  }

  /// Stops the process with SIGTERM if it is another program, as a package's upgrade does;
  /// `supervise` starts the new one.
  func replace(with program: String) async {
    guard program != self.program else { return }
    self.program = program
    guard let process, process.isRunning else { return }
    outages.begin(.oneNode)
    process.send(signal: SIGTERM)
    await process.waitForEnd()
    if self.process === process { self.process = nil }
  }

  /// Suspends the process, as a snapshot of its machine does.
  func pause(for duration: Duration) async {
    guard let process, process.isRunning, !isPaused else { return }
    isPaused = true
    defer { isPaused = false }
    outages.begin(.oneNode)
    let start = IncidentLog.now
    process.send(signal: SIGSTOP)
    try? await Task.sleep(for: duration)
    process.send(signal: SIGCONT)
    incidents.record(
      duration > .seconds(20) ? .longPause : .pause, from: start, to: IncidentLog.now, name)
  }

  /// Stops the process with SIGTERM.
  ///
  /// It must end with status 0 within two minutes.
  func stop() async {
    guard let process, process.isRunning else {
      return incidents.recordViolation("\(name) was not running at the end")
    }
    process.send(signal: SIGTERM)
    let limit = ContinuousClock.now + .seconds(120)
    while process.isRunning, .now < limit { try? await Task.sleep(for: .milliseconds(20)) }
    self.process = nil
    guard let ending = process.ending else {
      incidents.recordViolation("\(name) did not end within two minutes after SIGTERM")
      process.send(signal: SIGKILL)
      await process.waitForEnd()
      return
    }
    if ending.isSignal || ending.status != 0 {
      incidents.recordViolation("\(name) ended with status \(ending.status) at SIGTERM")
    }
  }
}

/// Locates the `ridepulse` binary.
enum ServiceBinary {
  static func path() throws -> String { try LocalBinary.path("ridepulse") }
}

extension ProcessGuard {
  /// The guard of the nodes, of this build and of a previous release.
  static let shared = ProcessGuard(binary: "*/ridepulse")
}
