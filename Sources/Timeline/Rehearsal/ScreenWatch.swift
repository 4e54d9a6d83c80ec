import Base
import RideCore

/// What people notice of the rides that go on, under one set of rules; of a ride that is over, only
/// counts are kept.
struct ScreenWatch {
  private struct Going {
    var id: RideID
    var attention = RideAttention()
    var screens = RideScreens()
  }

  private let limits: [ScreenLimit.Kind]
  private let sensitiveRules: Set<String>
  /// By the index of the ride in the world.
  private var rides: [Int: Going] = [:]
  /// Of the rides that have left, until the day ends.
  private var past: [RideID: RidePast] = [:]
  /// Of the rides that have left.
  private(set) var figures: [App: AttentionFigures] = [:]

  init(_ limits: [ScreenLimit.Kind], _ rules: RuleSet) {
    self.limits = limits
    sensitiveRules = limits.isEmpty ? [] : rules.timeSensitiveRules
  }

  mutating func add(_ pass: Pass) {
    let departures = pass.departures
    if departures.isEmpty { return }
    let view = pass.decision.view
    var ride = rides.removeValue(forKey: pass.index) ?? Going(id: pass.ride)
    ride.attention.add(departures, in: view)
    // Screens need every push until the end, the figures none.
    if !limits.isEmpty { ride.screens.add(departures, in: view) }
    rides[pass.index] = ride
  }

  /// A ride is over: returns which limits its phones broke that they had not broken before.
  mutating func end(_ index: Int, at now: Timestamp) -> [LimitBreak] {
    guard let ride = rides.removeValue(forKey: index) else { return [] }
    var past = past.removeValue(forKey: ride.id) ?? RidePast()
    // The events of a person are no ride that comes back: each counts by itself.
    defer { if !ride.id.isOfPerson { self.past[ride.id] = past } }
    AttentionFigures.add(ride.attention, after: &past, to: &figures)
    if limits.isEmpty { return [] }
    return ride.screens.breaks(
      of: limits, ride: ride.id, after: &past, sensitiveRules: sensitiveRules, until: now)
  }

  /// The day is over: ends the rides that still go on.
  mutating func endAll(at now: Timestamp) -> [LimitBreak] {
    rides.keys.sorted().flatMap { end($0, at: now) }
  }
}
