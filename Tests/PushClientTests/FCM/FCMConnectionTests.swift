import Base
import RideCore
import Testing

@testable import PushClient

/// What a connection to FCM does otherwise than one to APNs.
@Suite struct FCMConnectionTests {
  typealias Machine = ConnectionStateMachine<Int>

  private static func at(_ milliseconds: Int64) -> MonotonicTime {
    ConnectionStateMachineTests.at(milliseconds)
  }

  private static func machine() -> Machine {
    Machine(settings: ConnectionSettings(APNsConfiguration(), .fcm), at: at(0))
  }

  private static func open(
    _ machine: inout Machine, _ push: Int, id: Int32, at time: Int64 = 0,
    hasChangedToken: Bool = false
  ) -> Int {
    let slot = machine.streams.reserve()
    var queued = QueuedRequest(push: push, order: UInt64(push), deadline: at(time + 10_000))
    queued.hasChangedToken = hasChangedToken
    machine.streams.fill(slot, with: queued, id: id, at: at(time))
    _ = machine.streams.update(slot, id: id) { $0.bodyStart = 0 }
    return slot
  }

  private static func close(
    _ machine: inout Machine, _ slot: Int, id: Int32, status: String, body: String = ""
  ) -> Machine.Closed? {
    _ = machine.streams.update(slot, id: id) { stream in
      unsafe Array(status.utf8).withUnsafeBufferPointer {
        unsafe stream.answer.receive(status: $0)
      }
      unsafe Array(body.utf8).withUnsafeBufferPointer {
        unsafe _ = stream.answer.receive(body: $0)
      }
    }
    return machine.closed(
      slot, id: id, code: 0, errorName: "NAME", wall: ConnectionStateMachineTests.wall)
  }

  @Test func `a hundred streams before SETTINGS, and then as many as the server allows`() {
    var machine = Self.machine()
    #expect(machine.capacity(at: Self.at(0)) == 100)
    #expect(machine.load(at: Self.at(0)).isProved)
    for (limit, capacity) in [(3, 3), (1000, 1000), (5000, 1000), (0, 0)] {
      machine.limited(to: limit)
      #expect(machine.capacity(at: Self.at(0)) == capacity)
    }
  }

  @Test func `an idle connection is never pinged, and closed after four minutes`() {
    var machine = Self.machine()
    let slot = Self.open(&machine, 1, id: 1)
    machine.received(at: Self.at(500))
    _ = Self.close(&machine, slot, id: 1, status: "200")
    #expect(machine.wakeAt() == Self.at(240_500))
    for time in stride(from: Int64(1000), to: 240_500, by: 100) {
      #expect(!machine.due(at: Self.at(time)).sendsPing)
    }
    #expect(machine.phase == .open)
    #expect(!machine.due(at: Self.at(240_500)).sendsPing)
    #expect(machine.phase == .draining("idle"))
    #expect(machine.isFinished)
  }

  @Test func `a stream that waits for three seconds is worth one ping, and no second one`() {
    var machine = Self.machine()
    let slot = Self.open(&machine, 1, id: 1, at: 60_000)
    #expect(machine.wakeAt() == Self.at(63_000))
    #expect(!machine.due(at: Self.at(62_999)).sendsPing)
    #expect(machine.due(at: Self.at(63_000)).sendsPing)
    // The answer to the ping is no answer to the push.
    machine.received(at: Self.at(63_010))
    for time in stride(from: Int64(63_010), to: 70_000, by: 10) {
      #expect(!machine.due(at: Self.at(time)).sendsPing)
    }
    machine.received(at: Self.at(69_000))
    _ = Self.close(&machine, slot, id: 1, status: "200")
    _ = Self.open(&machine, 2, id: 3, at: 70_000)
    #expect(machine.due(at: Self.at(73_000)).sendsPing, "an answer justifies the next one")
  }

  @Test func `a ping without an answer makes the connection suspect, and then lost`() {
    var machine = Self.machine()
    _ = Self.open(&machine, 1, id: 1)
    #expect(machine.due(at: Self.at(3_000)).sendsPing)
    #expect(machine.capacity(at: Self.at(3_999)) > 0)
    #expect(machine.capacity(at: Self.at(4_000)) == 0)
    #expect(machine.due(at: Self.at(13_000)).lost != nil)
  }

  @Test func `a refused token is reported once, and the push goes again with another one`() throws {
    var machine = Self.machine()
    let slots = (0..<3).map { Self.open(&machine, $0, id: Int32(2 * $0 + 1)) }
    let first = try #require(Self.close(&machine, slots[0], id: 1, status: "401"))
    #expect(first.tokenExpired)
    guard case .again(let queued, .turnedAway(let refusal)) = first.ending else {
      Issue.record("\(first.ending)")
      return
    }
    #expect(refusal == Refusal(status: 401, reason: "UNAUTHENTICATED"))
    #expect(queued.hasChangedToken)
    machine.authorized(by: false, at: Self.at(10))
    #expect(machine.capacity(at: Self.at(10)) == 0, "there is no token")
    machine.authorized(by: true, at: Self.at(20))
    #expect(machine.capacity(at: Self.at(20)) == 98)
    // Its stream was opened with the token before.
    let second = try #require(Self.close(&machine, slots[1], id: 3, status: "401"))
    #expect(!second.tokenExpired)
    let slot = Self.open(&machine, 7, id: 7, at: 30, hasChangedToken: true)
    let last = try #require(Self.close(&machine, slot, id: 7, status: "401"))
    #expect(last.tokenExpired)
    guard case .report(7, .refused(refusal), _) = last.ending else {
      Issue.record("\(last.ending)")
      return
    }
    #expect(machine.phase == .open)
  }

  @Test func `an answer's body gives the word of a refusal and the ID of a message`() throws {
    var machine = Self.machine()
    let first = Self.open(&machine, 1, id: 1)
    let accepted = Self.close(
      &machine, first, id: 1, status: "200", body: #"{"name":"projects/rides/messages/0:1%2"}"#)
    guard case .report(1, .accepted, "0:1%2")? = accepted?.ending else {
      Issue.record("\(String(describing: accepted))")
      return
    }
    let second = Self.open(&machine, 2, id: 3)
    let refused = Self.close(
      &machine, second, id: 3, status: "404", body: #"{"reason":"Unregistered"}"#)
    let expected = Refusal(status: 404, reason: "PROJECT_NOT_FOUND")
    guard case .report(2, .refused(expected), nil)? = refused?.ending else {
      Issue.record("\(String(describing: refused))")
      return
    }
  }

  @Test func `an unregistered phone is gone since the push left, not since the answer`() {
    var machine = Self.machine()
    let slot = Self.open(&machine, 1, id: 1, at: 1_000)
    machine.received(at: Self.at(5_000))
    let body =
      #"{"error":{"details":[{"@type":"google.firebase.fcm.v1.FcmError","#
      + #""errorCode":"UNREGISTERED"}]}}"#
    let closed = Self.close(&machine, slot, id: 1, status: "404", body: body)
    #expect(closed?.refusal?.reason == "UNREGISTERED")
    #expect(closed?.refusal?.timestamp == ConnectionStateMachineTests.wall - .seconds(4))
  }
}
