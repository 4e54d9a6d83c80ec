package import RideCore

/// How often the rides of one app asked people for attention. Those of parts of a day add up.
package struct AttentionFigures: Hashable, Sendable {
  /// The people whom a ride reached; one of two rides counts twice.
  package private(set) var people = 0
  package private(set) var total = AttentionCount()
  /// The people by how often their phones rang, and lit up, during one ride.
  package private(set) var rings = Distribution()
  package private(set) var lights = Distribution()

  package init() {}

  /// Adds the people of a ride that is over, by app.
  package static func add(_ ride: RideAttention, to figures: inout [App: AttentionFigures]) {
    for (person, count) in ride.people { figures[person.app, default: .init()].add(count) }
  }

  private mutating func add(_ person: AttentionCount) {
    people += 1
    total.add(person)
    rings.add(person.rang)
    lights.add(person.lit)
  }

  package mutating func add(_ other: AttentionFigures) {
    people += other.people
    total.add(other.total)
    rings.add(other.rings)
    lights.add(other.lights)
  }
}
