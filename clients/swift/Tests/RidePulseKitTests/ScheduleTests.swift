import Foundation
import Testing

@testable import RidePulseKit

/// The queue against a model of the server, under kills, holes in the network, sign-ins and sign-outs.
@Suite struct ScheduleTests {
  /// RIDEPULSE_KIT_SCHEDULES runs as many.
  private static let count =
    ProcessInfo.processInfo.environment["RIDEPULSE_KIT_SCHEDULES"].flatMap(UInt64.init) ?? 1000

  @Test func `After random schedules the server has what the last session has, and no more`() {
    var registered = 0
    for seed in 0..<Self.count {
      var phone = ModelPhone(seed: seed)
      for _ in 0..<120 { phone.step() }
      phone.settle()
      registered += phone.expected.count
      #expect(
        phone.enabled == phone.expected,
        """
        seed \(seed): too much \(phone.enabled.subtracting(phone.expected).sorted()), \
        missing \(phone.expected.subtracting(phone.enabled).sorted()), \
        history \(phone.history.suffix(30))
        """)
      #expect(phone.faults == [], "seed \(seed)")
      #expect(phone.waiting.isEmpty, "seed \(seed): \(phone.waiting.map(\.report))")
      // One that fails says enough.
      if phone.enabled != phone.expected || !phone.faults.isEmpty || !phone.waiting.isEmpty {
        return
      }
    }
    // Schedules that register nothing would show nothing.
    #expect(registered > 2 * Self.count)
  }
}
