package import Base
package import RideCore

/// How the pushes of a day differ between two sets of rules.
package struct RehearsalChanges: Hashable, Sendable {
  package enum Kind: String, CaseIterable, Hashable, Sendable {
    /// Only the new rules send it.
    case added
    /// Only the old rules send it.
    case removed
    /// It is sent later.
    case late
    /// It is sent earlier.
    case earlier
    /// It has another text or other headers.
    case changed
  }

  /// One push that differs.
  package struct Example: Hashable, Comparable, Sendable {
    package var at: Timestamp
    package var ride: String
    package var before: String?
    package var after: String?

    package static func < (left: Example, right: Example) -> Bool {
      (left.at, left.ride, left.before ?? "", left.after ?? "")
        < (right.at, right.ride, right.before ?? "", right.after ?? "")
    }
  }

  package struct Group: Hashable, Sendable {
    package var count = 0
    /// The first ones by time and ride.
    package var examples: [Example] = []
  }

  /// By rule and kind.
  package private(set) var groups: [String: [Kind: Group]] = [:]
  package var unchanged = 0

  private static let examples = 3

  package init() {}

  package var isEmpty: Bool { groups.isEmpty }

  package func count(_ kind: Kind) -> Int {
    groups.values.reduce(0) { $0 + ($1[kind]?.count ?? 0) }
  }

  package mutating func add(_ kind: Kind, _ rule: String, _ example: Example) {
    add(Group(count: 1, examples: [example]), kind, rule)
  }

  /// Adds differences that only figures show, without an example.
  package mutating func add(_ kind: Kind, _ rule: String, count: Int) {
    add(Group(count: count), kind, rule)
  }

  package mutating func add(_ other: RehearsalChanges) {
    unchanged += other.unchanged
    for (rule, kinds) in other.groups {
      for (kind, group) in kinds { add(group, kind, rule) }
    }
  }

  /// Adds how two replays of one ride differ.
  ///
  /// - Parameter shownAt: The time of an example for that of a decision; nil to pass over it.
  package mutating func add(
    ride: RideID, before: Replay, after: Replay, until end: Timestamp,
    shownAt: (Timestamp) -> Timestamp?
  ) {
    func sent(_ replay: Replay) -> [SentPush] {
      var side = RehearsalSide(replay, compares: true, comparesFates: false)
      var sent: [SentPush] = []
      while let step = side.next(before: end) {
        for var push in step.sent {
          guard let at = shownAt(push.at) else { continue }
          push.at = at
          sent.append(push)
        }
      }
      return sent
    }
    var comparison = RideComparison()
    for push in sent(before) { comparison.add(before: push, to: &self) }
    for push in sent(after) { comparison.add(after: push, to: &self, ride: ride) }
    comparison.finish(&self, ride: ride)
  }

  private mutating func add(_ group: Group, _ kind: Kind, _ rule: String) {
    var own = groups[rule]?[kind] ?? Group()
    own.count += group.count
    // Most groups are full of earlier examples.
    if own.examples.count < Self.examples
      || group.examples.contains(where: { $0 < own.examples[own.examples.count - 1] })
    {
      own.examples = Array((own.examples + group.examples).sorted().prefix(Self.examples))
    }
    groups[rule, default: [:]][kind] = own
  }
}
