package import Base
package import RideCore

/// What a replay left waiting after each decision, and the rules whose events fired nothing: none of it
/// has a row that says so later.
package struct StoryTrace: Sendable {
  /// Something that a rule fired and that leaves later.
  package struct Waiting: Hashable, Sendable {
    package var rule: String
    package var app: App
    package var due: Timestamp
  }

  /// Why a rule that a change of the ride concerned did not fire.
  package enum Obstacle: Hashable, Sendable {
    /// Its `if`.
    case condition
    /// Its `while`.
    case states
  }

  private struct Entry {
    var at: Timestamp
    var ride: RideID
    var waiting: [Waiting]
    var obstacles: [String: Obstacle]
  }

  /// In the order of time.
  private var entries: [Entry] = []

  mutating func add(_ pass: Pass) {
    let waiting = pass.settlement.memo.waiting.map {
      Waiting(rule: $0.entry.rule, app: $0.entry.app, due: $0.due)
    }
    var obstacles = pass.settlement.outsideStates.mapValues { _ in Obstacle.states }
    for rule in pass.settlement.falseConditions.keys { obstacles[rule] = .condition }
    entries.append(
      Entry(at: pass.now, ride: pass.ride, waiting: waiting, obstacles: obstacles))
  }

  /// Returns what waits before an instant, the first due first.
  package func waiting(before instant: Timestamp) -> [Waiting] {
    var last: [RideID: [Waiting]] = [:]
    for entry in entries where entry.at < instant { last[entry.ride] = entry.waiting }
    let all = Set(last.values.joined())
    return all.sorted { ($0.due, $0.rule, $0.app.rawValue) < ($1.due, $1.rule, $1.app.rawValue) }
  }

  /// Returns why rules did not fire at changes of the ride within a time, by the rule's name.
  package func obstacles(in span: Range<Timestamp>) -> [String: Obstacle] {
    entries.filter { span.contains($0.at) }.reduce(into: [:]) { all, entry in
      all.merge(entry.obstacles) { $1 }
    }
  }
}
