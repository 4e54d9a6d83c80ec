import Foundation
import Testing

@Suite struct RecordTests {
  @Test func `a record tells what arrived, without the JWT`() throws {
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

  @Test func `a header given twice keeps both values`() throws {
    let simulator = try RunningSimulator()
    _ = try simulator.curl(["-H", "x-ride: a", "-H", "x-ride: b"] + simulator.words())
    let record = try #require(try simulator.records().first)
    #expect(record["reason"] as? String == "DuplicateHeaders")
    #expect((record["headers"] as? [String: Any])?["x-ride"] as? [String] == ["a", "b"])
  }

  @Test func `keys, certificates and records stay between starts`() throws {
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
