package import Base
package import RideCore

/// A phone that broke a limit on a ride of a day.
package struct LimitBreak: Hashable, Comparable, Sendable {
  /// What makes it the same one under other rules.
  struct Key: Hashable {
    var limit: ScreenLimit.Kind
    var token: String
  }

  package var ride: RideID
  package var limit: ScreenLimit.Kind
  var token: String
  /// The app and the ID of the phone's owner.
  package var person: String
  /// When; the end of the ride or of the day if that is not known.
  package var at: Timestamp
  package var text: String
  /// What the person sees then.
  package var screen: [String]

  var key: Key { Key(limit: limit, token: token) }

  package static func < (left: LimitBreak, right: LimitBreak) -> Bool {
    (left.at, left.ride, left.person, left.token, left.text)
      < (right.at, right.ride, right.person, right.token, right.text)
  }
}

/// How often the phones of a day broke each limit. Those of parts of a day add up.
package struct LimitFigures: Hashable, Sendable {
  package struct Group: Hashable, Sendable {
    /// The phones that broke it, once for each ride.
    package var count = 0
    /// The same under the other rules.
    package var before = 0
    /// Of `count`, those that do not break it under the other rules; all of them without others.
    package var new = 0
    /// The first new ones by time and ride.
    package var examples: [LimitBreak] = []

    package init() {}
  }

  private static let examples = 3

  package private(set) var groups: [ScreenLimit.Kind: Group] = [:]

  package init() {}

  /// Adds what the phones of one ride broke under the other rules and under these.
  mutating func add(before: Set<LimitBreak.Key>, after: [LimitBreak]) {
    for key in before { groups[key.limit, default: Group()].before += 1 }
    for found in after {
      var one = Group()
      one.count = 1
      if !before.contains(found.key) { (one.new, one.examples) = (1, [found]) }
      add(one, found.limit)
    }
  }

  mutating func add(_ other: LimitFigures) {
    for (limit, group) in other.groups { add(group, limit) }
  }

  private mutating func add(_ group: Group, _ limit: ScreenLimit.Kind) {
    var own = groups[limit] ?? Group()
    own.count += group.count
    own.before += group.before
    own.new += group.new
    own.examples = Array((own.examples + group.examples).sorted().prefix(Self.examples))
    groups[limit] = own
  }
}
