import Base
import Foundation
import LocalStack
import RideCore

/// `make bench`: prints the project's figures next to their goals; arguments select parts.
@main
enum BenchMain {
  static func main() async {
    signal(SIGPIPE, SIG_IGN)
    do {
      let arguments = try BenchArguments(Array(CommandLine.arguments.dropFirst()))
      if let part = arguments.sample {
        print(try Figure.json(await part.sample()))
        return
      }
      try await measure(arguments)
    } catch {
      print("ridepulse-bench: \(error)")
      exit((error as? BenchFailure)?.status ?? 1)
    }
  }

  private static func measure(_ arguments: BenchArguments) async throws {
    if isatty(STDERR_FILENO) == 1 {
      let names = (arguments.sampled.map(\.rawValue) + arguments.single.map(\.rawValue))
      let text = "measuring \(names.joined(separator: ", ")): this takes minutes\n"
      try? FileHandle.standardError.write(contentsOf: Data(text.utf8))
    }
    let directory = NSTemporaryDirectory() + "ridepulse-bench-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: directory) }
    if !arguments.sampled.isEmpty {
      let rounds = try BenchRounds(arguments, yardstick: Yardstick(directory: directory))
      for part in arguments.sampled { try rounds.measure(part) }
    }
    for part in arguments.single { try await part.measure() }
  }
}

/// A part that is measured several times, each time in a process of its own.
enum SampledPart: String, CaseIterable {
  case client, fcm, engine, agenda, scale

  /// The programs that an earlier commit may lack.
  var simulators: [String] { self == .fcm ? ["fcm-simulator"] : [] }

  func sample() async throws -> [Figure] {
    switch self {
    case .client: try await ClientBench.measure()
    case .fcm: try await FCMBench.measure()
    case .engine: try await EngineBench.measure()
    case .agenda: try await AgendaBench.measure()
    case .scale: try await ScaleBench.measure()
    }
  }
}

/// A part that takes minutes, repeats what it must itself, and runs only on request.
enum SinglePart: String, CaseIterable {
  case backlog, attach, search, bloat

  func measure() async throws {
    switch self {
    case .backlog: try await BacklogBench.measure()
    case .attach: try await AttachBench.measure()
    case .search: try await SearchBench.measure()
    case .bloat: try await BloatBench.measure()
    }
  }
}

/// What one call of the program does.
struct BenchArguments {
  private(set) var sampled: [SampledPart] = []
  private(set) var single: [SinglePart] = []
  /// The part to measure once, in this process, printed as JSON.
  private(set) var sample: SampledPart?
  /// How often each part is measured.
  private(set) var rounds = 5
  /// The `ridepulse` of another build, next to its other binaries, to measure alternately.
  private(set) var against: String?

  init(_ words: [String]) throws {
    var words = words[...]
    func value(of option: String) throws -> String {
      guard let value = words.popFirst() else {
        throw BenchFailure(text: "\(option) without a value")
      }
      return value
    }
    while let word = words.popFirst() {
      switch word {
      case "--rounds":
        guard let number = Int(try value(of: word)), number > 0 else {
          throw BenchFailure(text: "--rounds without a number above 0")
        }
        rounds = number
      case "--against": against = try value(of: word)
      case "--sample":
        let name = try value(of: word)
        guard let part = SampledPart(rawValue: name) else { throw Self.unknown(name) }
        sample = part
      default:
        if let part = SampledPart(rawValue: word) {
          sampled.append(part)
        } else if let part = SinglePart(rawValue: word) {
          single.append(part)
        } else {
          throw Self.unknown(word)
        }
      }
    }
    if sampled.isEmpty, single.isEmpty { sampled = [.client, .fcm, .engine, .agenda] }
  }

  private static func unknown(_ word: String) -> BenchFailure {
    let known = SampledPart.allCases.map(\.rawValue) + SinglePart.allCases.map(\.rawValue)
    return BenchFailure(
      text: "unknown part \(word); expected \(known.joined(separator: ", ")), "
        + "--rounds N or --against RIDEPULSE",
      status: BenchFailure.usage)
  }
}

/// A failure of the measurement itself.
struct BenchFailure: Error, CustomStringConvertible {
  let text: String
  /// The exit status.
  var status: Int32 = 1
  var description: String { text }

  /// The exit status of a program that does not know its arguments.
  static let usage: Int32 = 64
}

/// A measurement with its own servers.
protocol ServerBench {
  /// `Void` if `run` prints its figures itself.
  associatedtype Measured: Sendable
  /// Starts the servers.
  init() async throws
  /// Measures.
  func run() async throws -> Measured
  /// Stops the servers.
  func end() async
}

extension ServerBench {
  /// Measures, and stops the servers even if the measurement fails.
  @discardableResult static func measure() async throws -> Measured {
    let bench = try await Self()
    return try await withCleanup({ await bench.end() }) { try await bench.run() }
  }
}
