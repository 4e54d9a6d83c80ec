import Foundation
import RideCore

/// `make chaos`: the service among kills, sleeps, restarts and faults, and what it promises proved
/// from outside.
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

/// Standard output, at once and for a pipe too.
enum Say {
  static func line(_ text: String) {
    try? FileHandle.standardOutput.write(contentsOf: Data((text + "\n").utf8))
  }
}

/// What the command line says.
struct ChaosOptions {
  /// How long there is trouble.
  var duration: Duration = .seconds(600)
  /// Decides everything that is random.
  var seed = UInt64.random(in: 0...UInt64(Int64.max))
  /// Rides that live at one time.
  var rides = 150
  /// What is left out, to find out what a finding comes from.
  var without: Set<Part> = []
  /// Whether what the run leaves behind stays though everything held.
  var keeps = false
  var wantsHelp = false

  /// What can be left out.
  enum Part: String, CaseIterable, Sendable {
    case kill, pause, restart, faults, starts, clock
  }

  static let help = """
    Usage: ridepulse-chaos [--for DURATION] [--seed N] [--rides N] [--without PART]... [--keep]
      --for DURATION   how long there is trouble: 60s, 10m (default 10m)
      --seed N         decides everything that is random; printed at the start
      --rides N        rides that live at one time (default 150)
      --without PART   leave out kill, pause, restart, faults, clock, or starts (of cards by push)
      --keep           keep requests, logs and ledger though everything held
    """

  /// A command line that can't be understood.
  struct UsageError: Error {
    let text: String
  }

  init(_ words: [String]) throws(UsageError) {
    var rest = words[...]
    while let word = rest.popFirst() {
      switch word {
      case "--help":
        wantsHelp = true
        continue
      case "--keep":
        keeps = true
        continue
      default: break
      }
      guard ["--for", "--seed", "--rides", "--without"].contains(word) else {
        throw UsageError(text: "unknown word \(word)")
      }
      guard let value = rest.popFirst() else { throw UsageError(text: "\(word) needs a value") }
      switch word {
      case "--for": duration = try Self.known(Duration(rideText: value), word, value)
      case "--without": without.insert(try Self.known(Part(rawValue: value), word, value))
      case "--seed": seed = try Self.known(UInt64(value), word, value)
      default: rides = try Self.known(Int(value).flatMap { $0 > 0 ? $0 : nil }, word, value)
      }
    }
  }

  private static func known<Value>(
    _ value: Value?, _ word: String, _ text: String
  ) throws(UsageError) -> Value {
    guard let value else { throw UsageError(text: "\(word) \(text) can't be read") }
    return value
  }
}

/// A failure of the run itself.
struct ChaosFailure: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) {
    self.description = description
  }
}
