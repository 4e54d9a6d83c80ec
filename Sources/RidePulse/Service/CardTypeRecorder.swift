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
    var configuration: EngineConfiguration
  }

  private let pool: SessionPool
  private let state: Mutex<State>

  init(pool: SessionPool, _ configuration: EngineConfiguration) {
    self.pool = pool
    state = Mutex(State(configuration: configuration))
  }

  func use(_ configuration: EngineConfiguration) {
    state.withLock { $0.configuration = configuration }
  }

  /// Counts the pushes of a decision that APNs accepted. Returns at once.
  func handle(_ decision: Decision, _ outcomes: [PushOutcome]) {
    guard decision.pushes.contains(where: { $0.entry.cardEvent != nil }) else { return }
    state.withLock { state in
      let rules = state.configuration.deciding(decision.view.rideID).rules
      state.tally.add(decision, outcomes) { rules.attributesType(ofRule: $0) }
    }
  }

  /// Writes the counts. After a failure they are kept for the next time.
  func record(within limit: Duration) async throws {
    let lines = state.withLock { state in
      let lines = Self.sum(state.unwritten + state.tally.lines)
      (state.tally, state.unwritten) = (CardTypeTally(), [])
      return lines
    }
    if lines.isEmpty { return }
    do {
      try await pool.with(.short) { try await SentCardType.record(lines, $0, timeout: limit) }
    } catch {
      state.withLock { $0.unwritten = Self.sum($0.unwritten + lines) }
      throw error
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
