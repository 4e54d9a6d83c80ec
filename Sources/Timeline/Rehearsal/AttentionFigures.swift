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

  /// Adds the people of a ride, by app.
  package static func add(_ ride: RideAttention, to figures: inout [App: AttentionFigures]) {
    var past = RidePast()
    add(ride, after: &past, to: &figures)
  }

  /// Adds the people of a ride that has left, by app.
  ///
  /// - Parameter past: What they noticed of it before it came back.
  static func add(
    _ ride: RideAttention, after past: inout RidePast, to figures: inout [App: AttentionFigures]
  ) {
    for (person, count) in ride.people {
      figures[person.app, default: .init()].add(count, after: past.add(count, of: person))
    }
  }

  private mutating func add(_ count: AttentionCount, after known: RidePast.Person?) {
    total.add(count)
    if let known {
      rings.remove(known.rang)
      lights.remove(known.lit)
    } else {
      people += 1
    }
    rings.add(count.rang + (known?.rang ?? 0))
    lights.add(count.lit + (known?.lit ?? 0))
  }

  package mutating func add(_ other: AttentionFigures) {
    people += other.people
    total.add(other.total)
    rings.add(other.rings)
    lights.add(other.lights)
  }
}
