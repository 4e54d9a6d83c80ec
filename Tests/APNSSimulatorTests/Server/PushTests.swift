import Foundation
import TestSupport
import Testing

@Suite struct PushTests {
  @Test func `a correct push is answered 200 with an empty body and its apns-id`() throws {
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
    #expect(try simulator.records().first?["apns_unique_id"] as? String == id)
  }

  @Test func `a foreign JWT is answered 403`() throws {
    let simulator = try RunningSimulator()
    let foreign = Fixture.sign(JWT(issuedAt: Int(Date().timeIntervalSince1970)))
    let reply = try simulator.push(jwt: foreign)
    #expect(reply.status == 403)
    #expect(reply.body == #"{"reason":"InvalidProviderToken"}"#)
  }

  @Test func `a second JWT on one connection is refused`() throws {
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
    #expect(try simulator.push(jwt: jwts[1]).status == 200, "a new connection may use another")
  }

  @Test func `the stream limit is 1 until a valid JWT, then 1000`() throws {
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

  @Test func `latency delays answers`() throws {
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

@Suite struct RecordTests {
  @Test func `a record contains the request without its JWT`() throws {
    let simulator = try RunningSimulator()
    let before = Date().timeIntervalSince1970
    let jwt = try JWT(issuedAt: Int(before)).signed(keyPath: simulator.keyPath)
    let payload = "{\"aps\":\n {\"alert\":\"\u{e9}\\n\"}}"
    #expect(try simulator.push(jwt: jwt, payload: payload).status == 200)
    let record = try #require(try simulator.records().first)
    #expect(record["received_at"] as? Double ?? 0 >= before - 0.001)
    #expect(record["connection"] as? Int == 1 && record["stream"] as? Int == 1)
    #expect(record["method"] as? String == "POST")
    #expect(record["path"] as? String == "/3/device/" + RunningSimulator.token)
    #expect(record["token"] as? String == RunningSimulator.token)
    #expect(record["status"] as? Int == 200 && record["reason"] == nil)
    #expect(record["apns_id"] as? String == "123e4567-e89b-12d3-a456-426614174000")
    #expect(record["environment"] as? String == "production")
    #expect(record["payload_bytes"] as? Int == payload.utf8.count)
    let aps = (record["payload"] as? [String: Any])?["aps"] as? [String: Any]
    #expect(aps?["alert"] as? String == "\u{e9}\n")
    let headers = try #require(record["headers"] as? [String: String])
    #expect(headers["authorization"] == "bearer …")
    #expect(headers["apns-topic"] == "com.example.customer")
    let claims = try #require(record["jwt"] as? [String: Any])
    #expect(claims["kid"] as? String == "SIMKEY0001" && claims["iss"] as? String == "SIMTEAM001")
    #expect(claims["iat"] as? Int == Int(before))
    let file = simulator.directory.appendingPathComponent("requests.jsonl")
    #expect(try !String(contentsOf: file, encoding: .utf8).contains(jwt.suffix(20)))
  }

  @Test func `a refusal is recorded with its reason, a payload that is no JSON as text`() throws {
    let simulator = try RunningSimulator()
    let reply = try simulator.push(payload: "{\"aps\":")
    #expect(reply.body == #"{"reason":"BadPayload"}"#)
    let record = try #require(try simulator.records().first)
    #expect(record["status"] as? Int == 400)
    #expect(record["reason"] as? String == "BadPayload")
    #expect(record["payload_text"] as? String == "{\"aps\":" && record["payload"] == nil)
  }

  @Test func `a payload that is not UTF-8 is recorded with all its bytes`() throws {
    let simulator = try RunningSimulator()
    let body = try ScratchFile(Data([0x7B, 0xFF, 0x00, 0x7D]))
    _ = try simulator.push(payload: "@" + body.url.path)
    let record = try #require(try simulator.records().first)
    #expect(record["payload_base64url"] as? String == "e_8AfQ")
    #expect(record["payload_text"] == nil && record["payload"] == nil)
  }

  @Test func `a header given twice keeps both values`() throws {
    let simulator = try RunningSimulator()
    _ = try simulator.curl(["-H", "x-ride: a", "-H", "x-ride: b"] + simulator.words())
    let record = try #require(try simulator.records().first)
    #expect(record["reason"] as? String == "DuplicateHeaders")
    #expect((record["headers"] as? [String: Any])?["x-ride"] as? [String] == ["a", "b"])
  }

  @Test func `keys, certificates and records survive a restart`() throws {
    let first = try RunningSimulator()
    let jwt = try JWT(issuedAt: Int(Date().timeIntervalSince1970)).signed(keyPath: first.keyPath)
    let authority = try Data(contentsOf: URL(fileURLWithPath: first.authorityPath))
    #expect(try first.push(jwt: jwt).status == 200)
    #expect(first.stop() == 0)
    let second = try RunningSimulator(directory: first.directory)
    #expect(try Data(contentsOf: URL(fileURLWithPath: second.authorityPath)) == authority)
    #expect(try second.push(jwt: jwt).status == 200)
    #expect(try second.records().count == 2)
  }

  @Test func `the state directory is private`() throws {
    let simulator = try RunningSimulator()
    func mode(_ path: String) throws -> Int? {
      try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    }
    #expect(try mode(simulator.directory.path) == 0o700)
    #expect(try mode(simulator.keyPath) == 0o600)
    #expect(try mode(simulator.directory.appendingPathComponent("server.key").path) == 0o600)
  }
}
