import Base
import Foundation
import LegacyGateway
import RideCore
import Testing

@Suite("The feedback port") struct FeedbackTests {
  private func phones(_ count: Int) throws -> [DisabledPhone] {
    let token = try #require(DeviceToken(String(repeating: "c1", count: 32)))
    return (0..<count).map { number in
      DisabledPhone(
        phone: Int64(number), token: token,
        since: Timestamp(epochSeconds: 1_800_000_000 + Int64(number)))
    }
  }

  private func tuple(_ number: Int) -> String {
    String(1_800_000_000 + number, radix: 16) + "0020" + String(repeating: "c1", count: 32)
  }

  @Test func `sends tuples of 38 bytes, ends, and records them as reported`() async throws {
    try await GatewayFixture.run { fixture in
      let phones = try phones(2)
      fixture.store.change { $0.phones = phones }
      let output = try await fixture.client("read:77", feedback: true)
      #expect(output == [tuple(0) + tuple(1) + " end"])
      #expect(fixture.store.reported == 2)
      let again = try await fixture.client("read:1", feedback: true)
      #expect(again == [" end"])
    }
  }

  @Test func `sends page after page`() async throws {
    try await GatewayFixture.run { fixture in
      let phones = try phones(1700)
      fixture.store.change { $0.phones = phones }
      let output = try await fixture.client("read:\(1700 * 38)", "read:1", feedback: true)
      #expect(output == [(0..<1700).map(tuple).joined(), " end"])
      #expect(fixture.store.reported == 1700)
    }
  }

  @Test func `phones that the peer does not read are not recorded`() async throws {
    try await GatewayFixture.run { fixture in
      let phones = try phones(1_000_000)
      fixture.store.change { $0.phones = phones }
      async let output = fixture.client("read:38", "sleep:20000", feedback: true)
      var reported = (before: -1, now: 0)
      while reported.now == 0 || reported.before != reported.now {
        try await Task.sleep(for: .seconds(2))  // poll: nothing signals that no more comes
        reported = (reported.now, fixture.store.reported)
      }
      // Only what fits into the buffers of two sockets, not all phones.
      #expect(reported.now < 700_000)
      #expect(try await output == [tuple(0)])
    }
  }

  @Test func `phones that can't be recorded are reported again`() async throws {
    try await GatewayFixture.run { fixture in
      let phones = try phones(1)
      fixture.store.change { state in
        state.phones = phones
        state.forgetsNothing = true
      }
      for _ in 1...2 {
        let output = try await fixture.client("read:39", feedback: true)
        #expect(output == [tuple(0) + " end"])
      }
    }
  }
}
