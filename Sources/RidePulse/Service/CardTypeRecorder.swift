import Base
import PostgresStore
import RideCore
import Synchronization

/// Counts the JSON types that cards are sent, and adds the counts to the database once a minute.
///
/// Nothing depends on them but doctor's report.
final class CardTypeRecorder: Sendable {
  private struct State {
    var tally = CardTypeTally()
    /// Counts that could not be written yet: as many lines as cards have fields.
    var unwritten: [CardTypeTally.Line] = []
    var rules: RuleSet
    var hasFailed = false
  }

  private let conninfo: String
  private let log: Log
  private let state: Mutex<State>

  static let interval: Duration = .seconds(60)

  init(conninfo: String, rules: RuleSet, log: Log) {
    (self.conninfo, self.log) = (conninfo, log)
    state = Mutex(State(rules: rules))
  }

  func use(_ rules: RuleSet) { state.withLock { $0.rules = rules } }

  /// Counts the pushes of a decision that APNs accepted. Returns at once.
  func handle(_ decision: Decision, _ outcomes: [PushOutcome]) {
    guard decision.pushes.contains(where: { $0.entry.cardEvent != nil }) else { return }
    state.withLock { state in
      let rules = state.rules
      state.tally.add(decision, outcomes) { rules.attributesType(ofRule: $0) }
    }
  }

  /// Runs each minute until the task is cancelled.
  func run() async {
    while !Task.isCancelled {
      try? await Task.sleep(for: Self.interval)
      if !Task.isCancelled { await record(within: .seconds(10)) }
    }
  }

  /// Writes the counts. After a failure they are kept for the next time.
  func record(within limit: Duration) async {
    let lines = state.withLock { state in
      let lines = Self.sum(state.unwritten + state.tally.lines)
      (state.tally, state.unwritten) = (CardTypeTally(), [])
      return lines
    }
    if lines.isEmpty { return }
    do {
      let session = try PostgresSession(
        conninfo: conninfo, applicationName: "ridepulse card types")
      try await withCleanup({ await session.close(limit: .milliseconds(500)) }) {
        try await SentCardType.record(lines, session, timeout: limit)
      }
      state.withLock { $0.hasFailed = false }
    } catch {
      let isFirst = state.withLock { state in
        state.unwritten = Self.sum(state.unwritten + lines)
        defer { state.hasFailed = true }
        return !state.hasFailed
      }
      guard isFirst else { return }
      log(
        .warning, "Types of cards not recorded",
        ["error": "\(error)", "fix": "ridepulse doctor prints a missing grant"])
    }
  }

  /// Adds up lines of one field and type: a statement may write each row once.
  private static func sum(_ lines: [CardTypeTally.Line]) -> [CardTypeTally.Line] {
    var sums: [CardTypeTally.Line: Int64] = [:]
    for line in lines {
      var key = line
      key.count = 0
      sums[key, default: 0] += line.count
    }
    return sums.map { line, count in
      var line = line
      line.count = count
      return line
    }
  }
}
