/// The pushes that settlements left waiting for another attempt.
package struct UnfinishedPushes: Sendable {
  /// Pushes of one app that wait for the same reason.
  package struct Group: Hashable, Sendable {
    package var app: App
    /// A word of `LedgerReason.Code.word`.
    package var reason: String
  }

  private var waiting: [PushID: Group] = [:]

  package init() {}

  /// Records settlements in the order in which they were written.
  package mutating func add(_ settlements: [Settlement]) {
    for settlement in settlements {
      let kept = settlement.memo.waiting.filter(\.wait.isDeliberate).map(\.entry.id)
      for entry in settlement.entries {
        let isUnfinished = entry.status == .pending && !kept.contains(entry.id)
        waiting[entry.id] =
          isUnfinished ? Group(app: entry.app, reason: entry.reason?.code.word ?? "") : nil
      }
    }
  }

  /// The number of pushes in each group, in the order of the groups' names.
  package var groups: [(group: Group, pushes: Int)] {
    Dictionary(grouping: waiting.values, by: \.self)
      .map { (group: $0.key, pushes: $0.value.count) }
      .sorted {
        ($0.group.app.rawValue, $0.group.reason) < ($1.group.app.rawValue, $1.group.reason)
      }
  }
}
