import Base
import RideCore
import SystemSupport
import Timeline

/// Replays the lines of a day file, on one core or several.
struct RehearsalRun {
  var path: String
  var configuration: EngineConfiguration
  var options: Rehearsal.Options

  /// What a day file states, and what its rehearsal found.
  struct Outcome: Sendable {
    var header: DayHeader
    /// The lines after the header.
    var lines: Int
    var result: Rehearsal.Result
  }

  /// Reads the header alone.
  func header() throws -> DayHeader {
    do {
      let file = try LineReader(path)
      var reader = DayReader()
      while reader.header == nil, let line = try file.next() { _ = try reader.read(line) }
      guard let header = reader.header else { throw emptyFile }
      return header
    } catch { throw failure(error) }
  }

  /// Reads the answers that APNs gave on the day.
  func recordedAnswers() throws -> RecordedAnswers {
    var answers = RecordedAnswers()
    do {
      let file = try LineReader(path)
      var reader = DayReader()
      while let line = try file.next() {
        guard reader.header == nil || Self.mayBeAnswer(line) else {
          reader.skip()
          continue
        }
        guard let line = try reader.read(line), case .answer(let answer) = line.content else {
          continue
        }
        answers.add(answer, at: line.at)
      }
    } catch { throw failure(error) }
    answers.end()
    return answers
  }

  private static let answerKey = Array("\"answer\"".utf8)

  /// Returns whether the line contains the word; a line without it has no answer.
  private static func mayBeAnswer(_ line: [UInt8]) -> Bool {
    guard line.count >= answerKey.count else { return false }
    var index = 0
    while let quote = line[index...].firstIndex(of: answerKey[0]) {
      if line[quote...].starts(with: answerKey) { return true }
      index = quote + 1
    }
    return false
  }

  /// Replays the day in so many parts at once; their number does not change the result.
  func run(parts: Int) async throws -> Outcome {
    let outcomes = await (0..<parts).concurrentMap { part -> Result<Outcome, PartFailure> in
      do throws(PartFailure) { return .success(try run(part, of: parts)) } catch {
        return .failure(error)
      }
    }
    let failures = outcomes.compactMap { outcome in
      if case .failure(let failure) = outcome { failure } else { nil }
    }
    if let first = failures.min(by: { $0.line < $1.line }) { throw first.failure }
    var sum: Outcome?
    for case .success(let outcome) in outcomes {
      if sum == nil { sum = outcome } else { sum?.result.add(outcome.result) }
    }
    guard let sum else { throw emptyFile }
    return sum
  }

  /// Why a part of a day can't be replayed.
  private struct PartFailure: Error {
    var line: Int
    var failure: CommandFailure
  }

  private func run(_ part: Int, of parts: Int) throws(PartFailure) -> Outcome {
    var options = options
    options.part = DayPart(index: part, count: parts)
    var reader = DayReader()
    var rehearsal: Rehearsal?
    var progress = ProgressLine()
    defer { progress.end() }
    do {
      let file = try LineReader(path)
      while let text = try file.next() {
        let line = try reader.read(text, of: options.part)
        if let header = reader.header, rehearsal == nil {
          rehearsal = Rehearsal(header, by: configuration, options)
        }
        guard let line else { continue }
        try rehearsal?.add(line, number: reader.lines)
        if part == 0 { progress.show("\(CivilTime.exact(line.at)): \(reader.lines) lines") }
      }
    } catch {
      let line = (error as? DayProblem)?.line ?? reader.lines + 1
      throw PartFailure(line: line, failure: failure(error))
    }
    guard let header = reader.header, var rehearsal else {
      throw PartFailure(line: 1, failure: emptyFile)
    }
    return Outcome(header: header, lines: reader.lines - 1, result: rehearsal.finish())
  }

  private var emptyFile: CommandFailure { CommandFailure("\(path): the file is empty") }

  private func failure(_ error: any Error) -> CommandFailure {
    if let problem = error as? DayProblem {
      return CommandFailure(Escape.line("\(path):\(problem)"))
    }
    if let failure = error as? CommandFailure { return failure }
    return CommandFailure(Escape.line("\(path): \(error)"))
  }
}
