import Foundation

/// The seeds of randomised tests: the same ones in every run, so that a failure can be repeated.
///
/// `RIDEPULSE_TEST_SEED` adds a number to all of them, for runs with other random choices.
package enum TestSeed {
  private static let offset =
    ProcessInfo.processInfo.environment["RIDEPULSE_TEST_SEED"].flatMap { UInt64($0) } ?? 0

  package static func value(_ usual: UInt64) -> UInt64 { usual &+ offset }

  /// Returns consecutive seeds.
  package static func values(_ count: Int, from first: UInt64 = 1) -> [UInt64] {
    (0..<UInt64(count)).map { value(first &+ $0) }
  }
}
