import Foundation

/// Runs the service under kills, pauses, restarts and faults, and verifies its promises from
/// outside.
///
/// `make chaos` starts it.
@main
enum ChaosMain {
  static func main() async {
    signal(SIGPIPE, SIG_IGN)
    do {
      let options = try ChaosOptions(Array(CommandLine.arguments.dropFirst()))
      if options.wantsHelp { return Say.line(ChaosOptions.help) }
      exit(try await ChaosRun.perform(options) ? 0 : 1)
    } catch let error as ChaosOptions.UsageError {
      Say.line("ridepulse-chaos: \(error.text)\n\(ChaosOptions.help)")
      exit(64)
    } catch {
      Say.line("ridepulse-chaos: \(error)")
      exit(1)
    }
  }
}

/// Writes lines to standard output without buffering, even into a pipe.
enum Say {
  static func line(_ text: String) {
    try? FileHandle.standardOutput.write(contentsOf: Data((text + "\n").utf8))
  }
}

/// A failure of the run itself.
struct ChaosFailure: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) {
    self.description = description
  }
}
