import Foundation
import TestSupport
import Testing

@testable import APNSSimulator
@testable import SimulatorKit

/// What APNs stores for a device that is offline.
@Suite struct OfflineDevicesTests {
  private func push(_ id: String, at second: Int, expiration: Int? = 1_000) -> AcceptedPush {
    AcceptedPush(
      apnsID: id, acceptedAt: WallTime(seconds: second, microseconds: 0), expiration: expiration,
      members: [:])
  }

  private func outcomes(_ deliveries: [Delivery]) -> [String] {
    deliveries.map { "\($0.push.apnsID) \($0.outcome)" }
  }

  @Test func `R104 of three pushes in a tunnel the last one is delivered`() {
    var devices = OfflineDevices()
    #expect(devices.accept(push("0", at: 1), for: "t").isEmpty, "no test has mentioned it")
    devices.disconnect("t")
    #expect(devices.accept(push("1", at: 2), for: "t").isEmpty)
    #expect(outcomes(devices.accept(push("2", at: 3), for: "t")) == [#"1 replaced(by: "2")"#])
    #expect(outcomes(devices.accept(push("3", at: 4), for: "t")) == [#"2 replaced(by: "3")"#])
    let later = WallTime(seconds: 500, microseconds: 0)
    #expect(outcomes(devices.connect("t", at: later)) == ["3 delivered"])
    #expect(devices.connect("t", at: later).isEmpty, "it is delivered once")
    #expect(outcomes(devices.accept(push("4", at: 501), for: "t")) == ["4 delivered"])
  }

  @Test func `R104 an expiration of 0 is not stored and replaces nothing`() {
    var devices = OfflineDevices()
    devices.disconnect("t")
    #expect(devices.accept(push("1", at: 1), for: "t").isEmpty)
    #expect(outcomes(devices.accept(push("2", at: 2, expiration: 0), for: "t")) == ["2 notStored"])
    let now = WallTime(seconds: 3, microseconds: 0)
    #expect(outcomes(devices.connect("t", at: now)) == ["1 delivered"])
  }

  /// (expiration, when the device connects, outcome)
  @Test(arguments: [
    (1_000, 1_000, "1 delivered"), (1_000, 1_001, "1 expired"),
    (nil, 30 * 86_400 + 1, "1 delivered"), (nil, 30 * 86_400 + 2, "1 expired"),
  ])
  func `R104 an expired push is dropped`(expiration: Int?, second: Int, outcome: String) {
    var devices = OfflineDevices()
    devices.disconnect("t")
    #expect(devices.accept(push("1", at: 1, expiration: expiration), for: "t").isEmpty)
    let now = WallTime(seconds: second, microseconds: 0)
    #expect(outcomes(devices.connect("t", at: now)) == [outcome])
  }

  @Test func `R104 a push that has expired already replaces nothing`() {
    var devices = OfflineDevices()
    devices.disconnect("t")
    #expect(devices.accept(push("1", at: 1), for: "t").isEmpty)
    #expect(outcomes(devices.accept(push("2", at: 9, expiration: 8), for: "t")) == ["2 expired"])
    let late = push("3", at: 1_001, expiration: 2_000)
    #expect(outcomes(devices.accept(late, for: "t")) == ["1 expired"])
    devices.disconnect("u")
    #expect(devices.connect("u", at: late.acceptedAt).isEmpty, "each token has its own entry")
  }
}

/// Offline devices and rates from a client's point of view.
@Suite struct OfflineDeviceCallTests {
  private func call(_ simulator: RunningSimulator, _ path: String) throws -> Reply {
    try simulator.call("POST", "/devices/" + path)
  }

  @Test func `R104 a phone leaves a tunnel, and the record shows what it sees`() throws {
    let simulator = try RunningSimulator()
    let token = RunningSimulator.token
    let away = try call(simulator, token.uppercased() + "/offline")
    #expect(away.status == 200 && away.body == #"{"offline":"\#(token)"}"#, "\(away)")
    let future = Int(Date().timeIntervalSince1970) + 600
    for text in ["assigned", "arrived"] {
      let payload = #"{"aps":{"alert":"\#(text)"}}"#
      let reply = try simulator.push(payload: payload, expiration: future)
      #expect(reply.status == 200, "the answer does not show that a device is offline")
    }
    #expect(try simulator.push(payload: #"{"aps":{"alert":"now"}}"#, expiration: 0).status == 200)
    let back = try call(simulator, token + "/online")
    #expect(back.body.contains(#""alert":"arrived""#), "\(back)")
    #expect(try simulator.push().status == 200)
    let lines = try simulator.records("deliveries")
    let seen = lines.map { line in
      let aps = (line["payload"] as? [String: Any])?["aps"] as? [String: Any]
      return "\(aps?["alert"] ?? "") \(line["outcome"] ?? "")"
    }
    #expect(
      seen == ["assigned replaced", "now not_stored", "arrived delivered", "x delivered"])
    #expect(lines[2]["delivered_at"] as? Double ?? 0 >= lines[2]["accepted_at"] as? Double ?? 1)
    #expect(lines[0]["delivered_at"] == nil && lines[0]["dropped_at"] != nil)
    #expect(lines[0]["token"] as? String == token && lines[0]["push_type"] as? String == "alert")
  }

  @Test(arguments: [
    ("abcd/offline", 400), ("\(RunningSimulator.token)/away", 404),
    ("\(RunningSimulator.token)", 404), ("\(RunningSimulator.token)/offline/now", 404),
  ])
  func `R104 a wrong call is refused with the reason`(path: String, status: Int) throws {
    let reply = try call(try RunningSimulator(), path)
    #expect(reply.status == status && reply.body.contains("error"), "\(reply)")
  }

  @Test func `R104 a token that receives too many pushes is answered 429`() throws {
    let simulator = try RunningSimulator(["--token-rate", "2/3600"])
    #expect(try (0..<3).map { _ in try simulator.push().status } == [200, 200, 429])
    #expect(try simulator.push().body == #"{"reason":"TooManyRequests"}"#)
    #expect(try simulator.push(token: String(repeating: "cd", count: 32)).status == 200)
  }

  @Test func `R104 a push that the phone drops is recorded as such`() throws {
    let simulator = try RunningSimulator(["--lenient", "payloads"], logs: true)
    #expect(try simulator.push(payload: #"{"aps":{"badge":"1"}}"#).status == 200)
    let record = try #require(try simulator.records().first)
    #expect(record["status"] as? Int == 200 && record["reason"] == nil)
    #expect(record["dropped"] as? String == #"aps.badge is "1""#)
    let id = "apns-id 123e4567-e89b-12d3-a456-426614174000"
    #expect(try simulator.log().contains(#"\#(id): the phone drops it: aps.badge is "1""#))
  }
}
