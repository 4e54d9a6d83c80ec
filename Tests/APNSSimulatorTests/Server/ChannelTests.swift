import Foundation
import Testing
import TestSupport

/// Channels and broadcasts from a client's point of view; the client is Debian's curl.
@Suite struct ChannelTests {
  private static let app = "com.example.customer"
  private static let create = #"{"message-storage-policy":1,"push-type":"LiveActivity"}"#

  @Test func `R31: create, list, read, delete: statuses, headers and bodies are Apple's`() throws {
    let simulator = try RunningSimulator()
    let made = try simulator.call("POST", "/1/apps/\(Self.app)/channels", body: Self.create)
    let id = try #require(made.headers["apns-channel-id"])
    #expect(made.status == 201 && made.body == "")
    #expect(made.headers["apns-request-id"] == RunningSimulator.requestID)
    #expect(Data(base64Encoded: id)?.count == 16)
    let all = try simulator.call("GET", "/1/apps/\(Self.app)/all-channels")
    #expect(all.status == 200 && all.body == #"{"channels":["\#(id)"]}"#)
    let channel = ["apns-channel-id: \(id)"]
    let read = try simulator.call("GET", "/1/apps/\(Self.app)/channels", channel)
    #expect(read.status == 200 && read.body == Self.create)
    let deleted = try simulator.call("DELETE", "/1/apps/\(Self.app)/channels", channel)
    #expect(deleted.status == 204 && deleted.body == "")
    let again = try simulator.call("DELETE", "/1/apps/\(Self.app)/channels", channel)
    #expect(again.status == 404 && again.body == #"{"reason":"BadPath"}"#)
    let none = try simulator.call("GET", "/1/apps/\(Self.app)/all-channels")
    #expect(none.body == #"{"channels":[]}"#)
  }

  @Test func `R31: a broadcast is answered by the state of its channel`()
    throws
  {
    let simulator = try RunningSimulator()
    let id = try simulator.newChannel()
    let reply = try simulator.broadcast(to: id)
    #expect(reply.status == 200 && reply.body == "")
    #expect(Set(reply.headers.keys) == ["apns-request-id", "apns-unique-id"], "in production, too")
    #expect(reply.headers["apns-request-id"] == RunningSimulator.requestID)
    #expect(try simulator.broadcast(to: "YQ==").body == #"{"reason":"BadChannelId"}"#)
    _ = try simulator.call(
      "DELETE", "/1/apps/\(Self.app)/channels", ["apns-channel-id: \(id)"])
    let gone = try simulator.broadcast(to: id)
    #expect(gone.status == 400 && gone.body == #"{"reason":"ChannelNotRegistered"}"#)
    let records = try simulator.records("broadcasts")
    #expect(records.map { $0["status"] as? Int } == [200, 400, 400])
    #expect(records[0]["channel"] as? String == id && records[0]["token"] == nil)
    #expect(try simulator.records().isEmpty, "pushes have a file of their own")
    #expect(
      try simulator.records("channels").map { $0["call"] as? String } == ["create", "delete"])
  }

  @Test func `the limit and the capability are options`() throws {
    let simulator = try RunningSimulator([
      "--channel-limit", "1", "--no-broadcast", "com.example.driver",
    ])
    _ = try simulator.newChannel()
    let full = try simulator.call("POST", "/1/apps/\(Self.app)/channels", body: Self.create)
    #expect(full.status == 400 && full.body == #"{"reason":"CannotCreateChannelConfig"}"#)
    let off = try simulator.call(
      "POST", "/1/apps/com.example.driver/channels", body: Self.create)
    #expect(off.status == 400 && off.body == #"{"reason":"FeatureNotEnabled"}"#)
  }

  @Test func `channels survive a restart, deleted ones too`() throws {
    let first = try RunningSimulator()
    let kept = try first.newChannel()
    let deleted = try first.newChannel()
    _ = try first.call(
      "DELETE", "/1/apps/\(Self.app)/channels", ["apns-channel-id: \(deleted)"])
    #expect(first.stop() == 0)
    let second = try RunningSimulator(directory: first.directory)
    #expect(try second.broadcast(to: kept).status == 200)
    #expect(try second.broadcast(to: deleted).body == #"{"reason":"ChannelNotRegistered"}"#)
  }

  /// If a fault loses the answer, the call was executed; if it refuses the call, it was not.
  @Test(arguments: [
    (#"{"close":true}"#, 1), (#"{"stall":true}"#, 1), (#"{"reset":"INTERNAL_ERROR"}"#, 1),
    (#"{"answer":{"status":503,"reason":"ServiceUnavailable"}}"#, 0),
    (#"{"answer":{"status":201}}"#, 0),
  ])
  func `R32: a lost answer does not undo a create`(action: String, channels: Int) throws {
    let simulator = try RunningSimulator()
    try simulator.setFaults(#"[{"match":{"call":"create"},"action":\#(action),"times":1}]"#)
    let lost = try simulator.call("POST", "/1/apps/\(Self.app)/channels", body: Self.create)
    #expect(lost.headers["apns-channel-id"] == nil)
    let all = try simulator.call("GET", "/1/apps/\(Self.app)/all-channels")
    #expect(all.status == 200, "no other call is struck")
    #expect(all.body.components(separatedBy: "==").count - 1 == channels)
    let record = try #require(try simulator.records("channels").first)
    #expect(record["fault"] != nil)
  }

  @Test func `a fault may match one channel, and a push is no call`() throws {
    let simulator = try RunningSimulator()
    let ids = [try simulator.newChannel(), try simulator.newChannel()]
    try simulator.setFaults(
      """
      [{"match":{"channel":"\(ids[0])"},"action":{"answer":{"status":429,
        "reason":"TooManyRequests"}}},
       {"match":{"call":"push"},"action":{"answer":{"status":500}}}]
      """)
    #expect(try ids.map { try simulator.broadcast(to: $0).status } == [429, 200])
    #expect(try simulator.push().status == 500)
    let bad = try simulator.control(
      "POST", "faults", #"[{"match":{"call":"x"},"action":{"stall":true}}]"#)
    #expect(bad.status == 400 && bad.body.contains("broadcast"))
  }
}

extension RunningSimulator {
  static let requestID = "123e4567-e89b-12d3-a456-426614174001"

  /// Calls a path under `/1/…` or `/4/…`.
  func call(
    _ method: String, _ path: String, _ headers: [String] = [], body: String? = nil
  ) throws -> Reply {
    let jwt = try JWT(issuedAt: Int(Date().timeIntervalSince1970)).signed(keyPath: keyPath)
    let all =
      ["authorization: bearer \(jwt)", "apns-request-id: \(Self.requestID)"] + headers
      + (body == nil ? [] : ["content-type: application/json"])
    let data = body.map { ["--data-binary", $0] } ?? []
    let words =
      ["-s", "-i", "--http2", "--max-time", "60", "--cacert", authorityPath, "-X", method]
      + all.flatMap { ["-H", $0] } + data + ["https://127.0.0.1:\(port)\(path)"]
    return Reply(try curl(words).output)
  }

  func newChannel() throws -> String {
    let reply = try call(
      "POST", "/1/apps/com.example.customer/channels",
      body: #"{"message-storage-policy":1,"push-type":"LiveActivity"}"#)
    return try #require(reply.headers["apns-channel-id"])
  }

  func broadcast(to channel: String) throws -> Reply {
    let now = Int(Date().timeIntervalSince1970)
    return try call(
      "POST", "/4/broadcasts/apps/com.example.customer",
      [
        "apns-channel-id: \(channel)", "apns-push-type: liveactivity", "apns-expiration: 0",
        "apns-priority: 5",
      ], body: #"{"aps":{"timestamp":\#(now),"event":"update","content-state":{}}}"#)
  }
}
