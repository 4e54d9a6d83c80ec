import Testing

@testable import RidePulseKit

/// The queue against a model of the server, under kills, holes in the network, sign-ins and sign-outs.
@Suite struct ScheduleTests {
  @Test func `After 1,000 random schedules the server has what the last session has, and no more`()
  {
    var registered = 0
    for seed in UInt64(1)...1000 {
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
    #expect(registered > 2000)
  }
}
