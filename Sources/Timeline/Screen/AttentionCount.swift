/// How often a phone asked for attention, by the hour of the clock on the ride.
package struct AttentionCount: Hashable, Sendable {
  /// By hour, 0 to 23.
  package private(set) var rangByHour: [Int: Int] = [:]
  package private(set) var litByHour: [Int: Int] = [:]
  package private(set) var silent = 0

  package init() {}

  package var rang: Int { rangByHour.values.reduce(0, +) }
  package var lit: Int { litByHour.values.reduce(0, +) }

  mutating func add(_ attention: Attention, hour: Int) {
    switch attention {
    case .rang: rangByHour[hour, default: 0] += 1
    case .lit: litByHour[hour, default: 0] += 1
    case .silent: silent += 1
    }
  }

  package mutating func add(_ other: AttentionCount) {
    rangByHour.merge(other.rangByHour, uniquingKeysWith: +)
    litByHour.merge(other.litByHour, uniquingKeysWith: +)
    silent += other.silent
  }

  /// Returns whether it asked for more attention: rings count before all else.
  func isLouder(than other: AttentionCount) -> Bool {
    (rang, lit, silent) > (other.rang, other.lit, other.silent)
  }
}
