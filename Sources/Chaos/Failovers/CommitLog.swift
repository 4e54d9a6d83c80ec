import Synchronization

/// What the producers learned of their own transactions, kept outside the database.
final class CommitLog: Sendable {
  /// The number of a transaction; it is given out again on another timeline.
  struct Transaction: Hashable, Sendable {
    let timeline: Int
    let xid: Int64
  }

  /// A step that a producer began.
  struct Step: Hashable, Sendable {
    /// Also the key of its row in `chaos.steps`.
    let id: String
    let ride: String
    /// The data of its events that pushes show.
    var texts: [String] = []
    /// The transaction whose COMMIT was acknowledged; nil if none was.
    var transaction: Transaction?
    /// How many attempts ended without an answer.
    var doubts = 0
    /// When its COMMIT was acknowledged, in seconds since 1970.
    var at: Double = 0
  }

  private let state = Mutex<[String: Step]>([:])

  var steps: [Step] { state.withLock { Array($0.values) } }

  func begin(_ id: String, texts: [String], of ride: String) {
    state.withLock { $0[id] = Step(id: id, ride: ride, texts: texts) }
  }

  func doubt(_ id: String) {
    state.withLock { $0[id]?.doubts += 1 }
  }

  func acknowledge(_ id: String, _ transaction: Transaction) {
    let now = IncidentLog.now
    state.withLock {
      $0[id]?.transaction = transaction
      $0[id]?.at = now
    }
  }
}
