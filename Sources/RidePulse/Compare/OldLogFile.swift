import Base
import SystemSupport
import Timeline

/// The pushes of an old sender's log.
struct OldLogFile {
  /// In the order of their times, those near the compared time.
  let pushes: [OldPush]
  /// How many lines were the same push to another phone of the person.
  let repeats: Int
  private let path: String

  /// The longest time that is compared: the ledger is read hour by hour.
  private static let longest: Duration = .seconds(366 * 86_400)

  init(_ options: CompareOptions) throws {
    path = options.path
    var pushes: [OldPush] = []
    var reader = OldLogReader(options.form)
    do {
      let file = try LineReader(options.path)
      while let line = try file.next() {
        if let push = try reader.read(line) { pushes.append(push) }
      }
      try reader.finish()
    } catch let problem as CSVReader.Problem {
      throw CommandFailure("\(options.path):\(problem.line): \(Escape.line(problem.message))")
    } catch {
      throw CommandFailure("\(options.path): \(error)")
    }
    (self.pushes, repeats) = OldPush.merged(pushes)
  }

  /// Returns what is compared: what is asked for, or from the first push to the last.
  func range(_ options: CompareOptions, _ arguments: Arguments) throws -> Range<Timestamp> {
    let start = try arguments.time("--from") ?? pushes.first?.at
    let end = try arguments.time("--to") ?? pushes.last.map { $0.at + .microseconds(1) }
    guard let start, let end else {
      throw CommandFailure("\(path) has no push; then --from and --to are needed")
    }
    if start >= end { throw arguments.error("--to is not after --from, or the log's first push") }
    if end - start > Self.longest {
      throw arguments.error("\(start) to \(end) is more than \(Self.longest.rideText)")
    }
    return start..<end
  }
}
