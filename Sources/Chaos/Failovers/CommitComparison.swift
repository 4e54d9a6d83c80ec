/// Compares the commits that were acknowledged with those that the last primary has.
///
/// A killed primary's log is read: a commit after the position at which the next timeline begins
/// cannot be there, and every other one must be.
struct CommitComparison {
  /// The acknowledged steps.
  private(set) var acknowledged = 0
  /// Acknowledged, and lost together with the end of the log.
  private(set) var lost: [CommitLog.Step] = []
  /// Acknowledged and replicated, but absent: a violation.
  private(set) var vanished: [CommitLog.Step] = []
  /// After the end of what was replicated, but present: the log was read wrongly, or a server that
  /// was replaced has served again.
  private(set) var resurrected: [CommitLog.Step] = []
  /// Never acknowledged, and committed.
  private(set) var unacknowledged = 0
  /// Steps that were repeated or resolved because an answer was missing.
  private(set) var doubtful = 0

  /// - Parameters:
  ///   - steps: The steps as the producers know them.
  ///   - present: The IDs of the steps that the last primary has.
  ///   - beyond: The transactions in the logs of the former primaries that were not replicated.
  init(
    _ steps: some Sequence<CommitLog.Step>, present: Set<String>,
    beyond: Set<CommitLog.Transaction>
  ) {
    for step in steps {
      if step.doubts > 0 { doubtful += 1 }
      let isPresent = present.contains(step.id)
      guard let transaction = step.transaction else {
        if isPresent { unacknowledged += 1 }
        continue
      }
      acknowledged += 1
      switch (isPresent, beyond.contains(transaction)) {
      case (true, false): break
      case (false, true): lost.append(step)
      case (false, false): vanished.append(step)
      case (true, true): resurrected.append(step)
      }
    }
  }
}
