import Foundation
import RideCore

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
      if options.wantsHelp { return Console.print(ChaosOptions.help) }
      let hasHeld =
        if let failovers = options.failovers {
          try await FailoverRun.perform(failovers, options)
        } else {
          try await ChaosRun.perform(options)
        }
      exit(hasHeld ? 0 : 1)
    } catch let error as ChaosOptions.UsageError {
      Console.print("ridepulse-chaos: \(error.text)\n\(ChaosOptions.help)")
      exit(64)
    } catch {
      Console.print("ridepulse-chaos: \(error)")
      exit(1)
    }
  }
}

/// Writes lines to standard output without buffering, even into a pipe.
enum Console {
  static func print(_ text: String) {
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
