import Foundation
import TestSupport
import Testing

@testable import APNSSimulator
@testable import SimulatorKit

/// The inbox from a browser's and a test's point of view: plain HTTP, without TLS and without a JWT.
@Suite struct InboxTests {
  private static let token = RunningSimulator.token

  private func start(_ words: [String] = []) async throws -> (RunningSimulator, InboxClient) {
    let simulator = try RunningSimulator(["--inbox", "127.0.0.1:0"] + words)
    return (simulator, try await InboxClient(simulator, "apns-simulator"))
  }

  private var future: Int { Int(Date().timeIntervalSince1970) + 600 }

  private func alert(_ title: String) -> String {
    #"{"aps":{"alert":{"title":"\#(title)"},"sound":"default"}}"#
  }

  private func outcomes(_ records: [[String: Any]]) -> [String] {
    records.map { "\($0["sequence"] ?? "") \($0["outcome"] ?? "")" }
  }

  @Test func `each push has its record, its number and its outcome, also one that is refused`()
    async throws
  {
    let (simulator, inbox) = try await start(["--lenient", "payloads"])
    #expect(try inbox.messages().isEmpty)
    #expect(try simulator.push(payload: alert("Here")).status == 200)
    #expect(try simulator.push(token: "zz").status == 400)
    #expect(try simulator.push(payload: #"{"aps":{"badge":"1"}}"#).status == 200)
    let records = try inbox.messages()
    #expect(outcomes(records) == ["1 delivered", "2 refused", "3 dropped"])
    #expect(records[1]["reason"] as? String == "BadDeviceToken" && records[1]["detail"] != nil)
    #expect(records[2]["dropped"] as? String == #"aps.badge is "1""#)
    // All that the record file has is there, too.
    for (record, line) in zip(records, try simulator.records()) {
      var own = record
      for key in ["sequence", "outcome", "outcome_at", "phone", "type"] { own[key] = nil }
      #expect(NSDictionary(dictionary: own).isEqual(to: line), "\(line)")
    }
    #expect(outcomes(try inbox.messages("?refused=true")) == ["2 refused"])
    #expect(outcomes(try inbox.messages("?token=abababab&after=1")) == ["3 dropped"])
    #expect(try inbox.messages("?type=voip").isEmpty)
  }

  @Test func `a test waits for a push, and is answered when it arrives`() async throws {
    let (simulator, inbox) = try await start()
    async let reply = inbox.callAsync("/messages?token=\(Self.token)&wait=4m")
    async let other = inbox.callAsync("/messages?type=voip&wait=1s")
    #expect(try simulator.push(token: String(repeating: "cd", count: 32)).status == 200)
    #expect(try InboxClient.records(await other).isEmpty, "its time is over")
    #expect(try simulator.push(payload: alert("Here")).status == 200)
    let records = try InboxClient.records(await reply)
    #expect(records.map { $0["token"] as? String } == [Self.token])
    // What is there already is not waited for.
    #expect(try inbox.messages("?token=\(Self.token)&wait=4m").count == 1)
  }

  @Test func `a phone that is off shows what it had, and what waits for it`() async throws {
    let (simulator, inbox) = try await start()
    #expect(try simulator.push(payload: alert("On the way"), expiration: future).status == 200)
    let off = try inbox.post("/devices/\(Self.token)/offline")
    #expect(off.status == 200 && off.body == #"{"offline":"\#(Self.token)"}"#, "\(off)")
    for title in ["Soon", "Here"] {
      #expect(try simulator.push(payload: alert(title), expiration: future).status == 200)
    }
    let waiting = try inbox.messages("?screen=true")
    #expect(outcomes(waiting) == ["1 delivered", "2 replaced", "3 waiting"])
    let screen = try #require(waiting.last?["screen"] as? [String: Any])
    #expect(screen["online"] as? Bool == false && titles(screen) == ["On the way"])
    #expect(
      (screen["waiting"] as? [[String: Any]])?.compactMap { $0["text"] as? String } == ["Here"])
    #expect(try inbox.post("/devices/\(Self.token)/online").status == 200)
    let back = try inbox.messages("?screen=true&after=2")
    #expect(outcomes(back) == ["3 delivered"])
    let now = try #require(back.last?["screen"] as? [String: Any])
    #expect(now["online"] as? Bool == true && titles(now) == ["Here", "On the way"])
    #expect((now["counts"] as? [String: Int])?["rang"] == 2)
  }

  private func titles(_ screen: [String: Any]) -> [String] {
    let threads = screen["threads"] as? [[[String: Any]]] ?? []
    return threads.joined().compactMap { $0["title"] as? String }
  }

  @Test func `tokens that a test joins are one phone, and broadcasts have their channel`()
    async throws
  {
    let (simulator, inbox) = try await start()
    let card = String(repeating: "ef", count: 32)
    let tokens = [Self.token, card].map { #"{"token":"\#($0)","phone":"mine"}"# }
    let set = try inbox.call(
      "/simulator/tokens", ["--data-binary", #"{"tokens":[\#(tokens.joined(separator: ","))]}"#])
    #expect(set.status == 200, "\(set)")
    #expect(try simulator.push().status == 200)
    #expect(try simulator.push(token: card).status == 200)
    let channel = try simulator.newChannel()
    #expect(try simulator.broadcast(to: channel).status == 200)
    let records = try inbox.messages("?screen=true")
    #expect(records.map { $0["phone"] as? String } == ["mine", "mine", channel])
    #expect(records.map { $0["type"] as? String } == ["alert", "alert", "liveactivity"])
    #expect((records[2]["screen"] as? [String: Any])?["cards"] as? [Any] != nil)
    #expect(try inbox.messages("?token=mine").count == 2)
    let page = try inbox.call("/inbox.json")
    #expect(page.status == 200 && page.body.contains(#""name":"mine""#))
  }

  @Test(arguments: [
    ("/messages?wait=6m", 400, "at most 5m"),
    ("/messages?after=9223372036854775807", 400, "a number from 0 to"),
    ("/messages?tokn=a", 400, "did you mean token?"),
    ("/inbox.json?after=x", 400, "a number from 0 to"), ("/index.html", 404, "no such call"),
    ("/devices/abcd/offline", 404, "no such call"), ("/3/device/abcd", 404, "no such call"),
  ])
  func `a wrong call is refused in words`(path: String, status: Int, words: String) async throws {
    let (simulator, inbox) = try await start()
    defer { simulator.stop() }
    let reply = try inbox.call(path)
    #expect(reply.status == status && reply.body.contains(words), "\(reply)")
  }

  @Test func `a page asks for what has changed, and learns at once of another start`() async throws
  {
    let (simulator, inbox) = try await start()
    let first = try inbox.call("/inbox.json?after=9&wait=4m")
    #expect(first.body.contains(#""revision":0,"#), "\(first)")
    async let reply = inbox.callAsync("/inbox.json?after=0&wait=4m")
    #expect(try simulator.push(payload: alert("Here")).status == 200)
    let change = try await reply
    #expect(change.body.contains(#""revision":1,"#) && change.body.contains(#""title":"Here""#))
    #expect(try inbox.call("/inbox.json?after=1").body.contains(#""phones":[],"messages":[]"#))
    let filtered = try inbox.call("/inbox.json?type=voip")
    #expect(filtered.body.contains(#""messages":[]"#) && filtered.body.contains("messages_total"))
  }

  @Test func `the page is whole, and a page of another site is refused`() async throws {
    let (simulator, inbox) = try await start()
    let page = try inbox.call("/")
    #expect(page.status == 200 && page.headers["content-type"] == "text/html; charset=utf-8")
    #expect(page.headers["content-security-policy"]?.contains("default-src 'self'") == true)
    for match in page.body.matches(of: /(?:src|href)="(\/[a-z.-]+\.[a-z]+)"/) {
      #expect(try inbox.call(String(match.1)).status == 200, "\(match.1)")
    }
    #expect(try inbox.call("/", ["-H", "Host: evil.example"]).status == 403)
    let foreign = try inbox.call(
      "/devices/\(Self.token)/offline", ["-X", "POST", "-H", "Origin: http://evil.example"])
    #expect(foreign.status == 403, "\(foreign)")
    #expect(try simulator.push(expiration: future).status == 200)
    #expect(outcomes(try inbox.messages()) == ["1 delivered"], "the phone is on")
  }

  @Test func `bytes that are no HTTP are refused, and others are served`() async throws {
    let (simulator, inbox) = try await start()
    defer { simulator.stop() }
    let bad = try inbox.call("/", ["-H", "content-length: x", "-X", "POST"])
    #expect(bad.status == 400 && bad.body.contains("a wrong content-length"), "\(bad)")
    #expect(try inbox.call("/").status == 200)
  }
}
