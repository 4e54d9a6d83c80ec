import RideCore
import Synchronization

/// A row of random numbers that several threads draw from.
final class Locked: Sendable {
  private let generator: Mutex<SeededGenerator>

  init(_ generator: SeededGenerator) {
    self.generator = Mutex(generator)
  }

  /// A number from 0 up to a bound.
  func roll(_ bound: Int) -> Int {
    generator.withLock { Int($0.next() % UInt64(bound)) }
  }
}
