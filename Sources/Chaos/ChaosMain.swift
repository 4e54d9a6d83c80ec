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
      exit(try await ChaosRun.perform(options) ? 0 : 1)
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

struct ChaosOptions {
  /// How long faults are injected.
  var duration: Duration = .seconds(600)
  /// The seed of all random numbers.
  var seed = UInt64.random(in: 0...UInt64(Int64.max))
  /// The number of rides that are live at one time.
  var rides = 150
  /// The faults to leave out, to narrow down the cause of a violation.
  var without: Set<Part> = []
  /// Starts with a full NOTIFY queue of 8 GB, instead of one that is only above the engine's
  /// threshold.
  var fillsNotifyQueue = false
  /// Keeps the files of the run even if every invariant held.
  var keeps = false
  var wantsHelp = false

  /// A fault that can be left out.
  enum Part: String, CaseIterable, Sendable {
    case kill, pause, restart, faults, clock, starts
    case refusal, disk, locks, notify, rights, crowd, burst, reassign
  }

  static let help = """
    Usage: ridepulse-chaos [--for DURATION] [--seed N] [--rides N] [--without PART]...
                           [--full-notify-queue] [--keep]
      --for DURATION       how long faults are injected: 60s, 10m (default 10m)
      --seed N             of all random numbers; printed at the start
      --rides N            rides that are live at one time (default 150)
      --without PART       leave out one of
                             kill, pause, restart   of nodes, of nodes, of Postgres
                             faults, clock          of APNs, of Postgres
                             starts                 of cards by push
                             refusal                the ledger refuses one ride
                             disk                   the ledger's disk is full
                             locks                  an app keeps phones' rows locked
                             notify                 another application fills the NOTIFY queue
                             rights                 the engine loses a right
                             crowd                  one ride with 5,000 phones
                             burst                  one ride with 5,000 events
                             reassign               rides change their driver during outages
      --full-notify-queue  fill the queue up to its 8 GB (on disk) at first, so that NOTIFY fails
      --keep               keep requests, logs and ledger even if everything held
    """

  /// A command line that cannot be parsed.
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
      case "--full-notify-queue":
        fillsNotifyQueue = true
        continue
      default: break
      }
      guard ["--for", "--seed", "--rides", "--without"].contains(word) else {
        throw UsageError(text: "unknown argument \(word)")
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
