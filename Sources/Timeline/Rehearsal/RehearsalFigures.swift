package import RideCore

/// What one set of rules sends on a day, in figures. Those of parts of a day add up.
package struct RehearsalFigures: Hashable, Sendable {
  /// The pushes of one rule that APNs accepted.
  package struct RuleFigures: Hashable, Sendable {
    package var pushes = 0
    /// The sum of the fingerprints of the pushes, which does not depend on their order.
    package var digest: UInt64 = 0

    package init(pushes: Int = 0, digest: UInt64 = 0) {
      self.pushes = pushes
      self.digest = digest
    }
  }

  /// An owner and an hour.
  package struct OwnerHour: Hashable, Comparable, Sendable {
    package var app: App
    package var owner: OwnerID
    /// Since 1970.
    package var hour: Int64

    package init(app: App, owner: OwnerID, hour: Int64) {
      self.app = app
      self.owner = owner
      self.hour = hour
    }

    package static func < (left: OwnerHour, right: OwnerHour) -> Bool {
      (left.hour, left.app.rawValue, left.owner) < (right.hour, right.app.rawValue, right.owner)
    }
  }

  /// A promise that is checked for each push of the day.
  package enum Promise: String, CaseIterable, Sendable {
    case validity = "nothing is sent after its validity"
    case timestamps = "the timestamps of a card rise, and nothing follows its end"
    case cardEnds = "every card of a ride that is over was ended"
    case oneFate = "each push has one fate"
    case slots = "each slot has one fate"
  }

  package struct Breach: Hashable, Sendable {
    package var count = 0
    /// The first one, by time and ride.
    package var example = ""
  }

  package var rides = 0
  package var byRule: [String: RuleFigures] = [:]
  package var byType: [String: Int] = [:]
  package var byPriority: [Int: Int] = [:]
  /// Those that were not accepted, by rule and reason.
  package var notSent: [String: [String: Int]] = [:]
  /// The number of rides by the number of their pushes.
  package var ridesByPushes = Distribution()
  /// What people noticed, by app; empty for what was recorded, because no payloads are.
  package var attention: [App: AttentionFigures] = [:]
  /// Pushes by minute since 1970.
  package var byMinute: [Int64: Int] = [:]
  package var byOwnerHour: [OwnerHour: Int] = [:]
  /// Pushes to cards at priority 5 because the card had spent its hourly budget, and those cards.
  package var overBudgetPushes = 0
  package var overBudgetCards = 0
  package var breaches: [Promise: Breach] = [:]

  package init() {}

  package var pushes: Int { byRule.values.reduce(0) { $0 + $1.pushes } }

  package mutating func breach(_ promise: Promise, _ example: String) {
    add(Breach(count: 1, example: example), promise)
  }

  private mutating func add(_ breach: Breach, _ promise: Promise) {
    guard let own = breaches[promise] else { return breaches[promise] = breach }
    breaches[promise] = Breach(
      count: own.count + breach.count, example: min(own.example, breach.example))
  }

  /// Adds the figures of another part of the day.
  package mutating func add(_ other: RehearsalFigures) {
    rides += other.rides
    for (rule, figures) in other.byRule {
      byRule[rule, default: RuleFigures()].pushes += figures.pushes
      byRule[rule, default: RuleFigures()].digest &+= figures.digest
    }
    byType.merge(other.byType, uniquingKeysWith: +)
    byPriority.merge(other.byPriority, uniquingKeysWith: +)
    for (rule, reasons) in other.notSent {
      notSent[rule, default: [:]].merge(reasons, uniquingKeysWith: +)
    }
    ridesByPushes.add(other.ridesByPushes)
    for (app, figures) in other.attention { attention[app, default: .init()].add(figures) }
    byMinute.merge(other.byMinute, uniquingKeysWith: +)
    byOwnerHour.merge(other.byOwnerHour, uniquingKeysWith: +)
    overBudgetPushes += other.overBudgetPushes
    overBudgetCards += other.overBudgetCards
    for (promise, breach) in other.breaches { add(breach, promise) }
  }

  /// The most pushes to one owner in one hour of the clock, and the first such owner.
  package var peak: (of: OwnerHour, pushes: Int)? {
    byOwnerHour.min { ($1.value, $0.key) < ($0.value, $1.key) }.map { ($0.key, $0.value) }
  }

  /// The first minute with the most pushes, since 1970.
  package var busiest: (minute: Int64, pushes: Int)? {
    byMinute.min { ($1.value, $0.key) < ($0.value, $1.key) }.map { ($0.key, $0.value) }
  }
}
