import Foundation
import TestSupport
import Testing

@Suite struct PushTests {
  @Test func `a good push is answered 200 with an empty body and its apns-id`() throws {
    let simulator = try RunningSimulator()
    let reply = try simulator.push()
    #expect(reply.status == 200)
    #expect(reply.body == "")
    #expect(reply.headers == ["apns-id": "123e4567-e89b-12d3-a456-426614174000"])
  }

  @Test func `the sandbox adds apns-unique-id`() throws {
    let simulator = try RunningSimulator(["--environment", "sandbox"])
    let id = try #require(try simulator.push().headers["apns-unique-id"])
    #expect(UUID(uuidString: id) != nil && id == id.lowercased())
  }

  @Test func `a foreign JWT is answered 403`() throws {
    let simulator = try RunningSimulator()
    let foreign = Fixture.sign(JWT(issuedAt: Int(Date().timeIntervalSince1970)))
    let reply = try simulator.push(jwt: foreign)
    #expect(reply.status == 403)
    #expect(reply.body == #"{"reason":"InvalidProviderToken"}"#)
  }

  @Test func `two JWTs on one connection are one too many`() throws {
    let simulator = try RunningSimulator()
    let now = Int(Date().timeIntervalSince1970)
    let jwts = try [now, now - 60].map {
      try JWT(issuedAt: $0).signed(keyPath: simulator.keyPath)
    }
    let words = try simulator.words(jwt: jwts[0]) + ["--next"] + simulator.words(jwt: jwts[1])
    _ = try simulator.curl(words)
    let records = try simulator.records()
    #expect(records.map { $0["connection"] as? Int } == [1, 1])
    #expect(records.map { $0["status"] as? Int } == [200, 429])
    #expect(records[1]["reason"] as? String == "TooManyProviderTokenUpdates")
    #expect(try simulator.push(jwt: jwts[1]).status == 200, "a new connection may")
  }

  @Test func `one stream until a valid JWT was seen, then a thousand`() throws {
    let simulator = try RunningSimulator()
    #expect(try simulator.streamLimits(jwt: "a.b.c") == [1])
    #expect(try simulator.streamLimits() == [1, 1000])
  }

  @Test func `a large body is answered before its end`() throws {
    let simulator = try RunningSimulator()
    let body = try ScratchFile(Data(repeating: 0x20, count: 200_000))
    let reply = try simulator.push(payload: "@" + body.url.path)
    #expect(reply.status == 413)
    let bytes = try #require(try simulator.records().first?["payload_bytes"] as? Int)
    #expect(bytes > 65_536 && bytes < 200_000)
  }

  @Test func `latency holds answers back`() throws {
    let simulator = try RunningSimulator(["--latency", "300"])
    let format = ["-o", "/dev/null", "-w", "%{http_code} %{time_total}"]
    let output = try simulator.curl(simulator.words() + format).output
    let parts = output.split(separator: " ").suffix(2).compactMap { Double($0) }
    #expect(parts.first == 200)
    #expect(parts.last ?? 0 >= 0.3)
  }

  @Test func `sink mode accepts anything and records nothing`() throws {
    let simulator = try RunningSimulator(["--sink"])
    let reply = try simulator.push(jwt: "none")
    #expect(reply.status == 200 && reply.body == "")
    #expect(reply.headers["apns-id"]?.count == 36)
    #expect(try simulator.records().isEmpty)
    #expect(try simulator.control("GET", "stats").body.contains(#""requests":1,"#))
  }
}
