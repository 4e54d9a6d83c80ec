import Glibc
import Synchronization

/// The text that a fuzz test prints if its case traps, or hangs until the process is ended.
///
/// A signal handler may do next to nothing, so the text is prepared in advance: each case writes
/// the digits of its seed into it.
@safe
struct CrashReport {
  private static let digits = 20

  private let text: UnsafeMutablePointer<UInt8>
  private let end: Int

  init(_ name: StaticString) {
    let report = Array("\nfuzzing: \(name), RIDEPULSE_FUZZ_SEED=".utf8)
    unsafe text = memory.makeRow()
    end = min(report.count, ReportMemory.size - Self.digits - 2)
    for (index, byte) in report.prefix(end).enumerated() { unsafe text[index] = byte }
    unsafe text[end + Self.digits] = UInt8(ascii: "\n")
    unsafe text[end + Self.digits + 1] = 0
    record(0)
    memory.handleSignals()
  }

  /// Records the seed of the case that begins.
  func record(_ seed: Int) {
    var rest = seed.magnitude
    for index in (end..<end + Self.digits).reversed() {
      unsafe text[index] = UInt8(ascii: "0") + UInt8(rest % 10)
      rest /= 10
    }
    if seed < 0 { unsafe text[end] = UInt8(ascii: "-") }
  }

  /// Removes the text, because all cases are done.
  func close() { unsafe text[0] = 0 }
}

/// The texts of all fuzz tests, in memory that a signal handler can read.
@safe
private final class ReportMemory: @unchecked Sendable {
  // Rows are assigned one by one under the lock. Each row is written by one test, and the handler
  // reads it in whatever state it is.
  static let size = 128
  static let rows = 16
  static let signals = [SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGSEGV, SIGFPE, SIGINT, SIGTERM]

  private let texts = UnsafeMutablePointer<UInt8>.allocate(capacity: rows * size)
  private let taken = Mutex(0)
  private let isHandling = Mutex(false)
  fileprivate var before: [Int32: sigaction] = [:]

  init() { unsafe texts.initialize(repeating: 0, count: Self.rows * Self.size) }

  func makeRow() -> UnsafeMutablePointer<UInt8> {
    unsafe taken.withLock { taken in
      defer { taken += 1 }
      return unsafe texts + min(taken, Self.rows - 1) * Self.size
    }
  }

  func printAll() {
    for row in 0..<Self.rows {
      let text = unsafe texts + row * Self.size
      if unsafe text[0] != 0 { unsafe _ = write(STDERR_FILENO, text, strlen(text)) }
    }
  }

  func handleSignals() {
    isHandling.withLock { isInstalled in
      if isInstalled { return }
      isInstalled = true
      for signal in Self.signals {
        var action = sigaction()
        var old = sigaction()
        unsafe action.__sigaction_handler.sa_handler = { printReports($0) }
        unsafe sigaction(signal, &action, &old)
        before[signal] = old
      }
    }
  }
}

private let memory = ReportMemory()

/// Prints the texts, and passes the signal on to its previous handler.
private func printReports(_ signal: Int32) {
  memory.printAll()
  if var old = memory.before[signal] { unsafe sigaction(signal, &old, nil) }
  raise(signal)
}
