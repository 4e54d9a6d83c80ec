/// A random number generator with a seed (SplitMix64), so that a schedule that fails can be repeated.
struct Chance: RandomNumberGenerator {
  private var state: UInt64

  // Mixed: otherwise the numbers of a seed would be those of the seed before it, one later.
  init(seed: UInt64) { state = Self.mix(seed) }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    return Self.mix(state)
  }

  mutating func one(in count: Int) -> Bool { Int.random(in: 0..<count, using: &self) == 0 }

  private static func mix(_ value: UInt64) -> UInt64 {
    var mixed = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}
