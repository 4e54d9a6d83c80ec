import Base
import RideCore
import Synchronization

/// A random number generator that several threads share.
final class Locked: Sendable {
  private let generator: Mutex<SeededGenerator>

  init(_ generator: SeededGenerator) {
    self.generator = Mutex(generator)
  }

  /// Returns a number from 0 up to, but not including, `bound`.
  func roll(_ bound: Int) -> Int {
    generator.withLock { Int($0.next() % UInt64(bound)) }
  }
}
