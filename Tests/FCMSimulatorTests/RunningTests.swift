import Foundation
import TestSupport
import Testing

@testable import FCMSimulator

/// The built binary, with clients that contain none of our code.
@Suite struct RunningTests {
  @Test(arguments: ["--http2", "--http1.1"])
  func `a message is accepted, recorded and delivered`(http: String) throws {
    let simulator = try RunningFCM(["--strict", "all"])
    let token = try simulator.accessToken()
    let reply = try simulator.send(RunningFCM.message(), as: token, http: http)
    #expect(reply.status == 200)
    #expect(reply.body.contains(#"{"name":"projects/rides/messages/0:"#))
    let request = try #require(try simulator.process.records().first)
    #expect(request["registration"] as? String == RunningFCM.fid)
    #expect(request["status"] as? Int == 200)
    #expect(request["http"] as? String == (http == "--http2" ? "2" : "1.1"))
    let delivery = try #require(try simulator.process.records("deliveries").first)
    #expect(delivery["outcome"] as? String == "delivered")
    #expect(delivery["data"] as? [String: String] == ["event": "driver_arrived"])
  }

  @Test func `several requests share a connection of HTTP 1`() throws {
    let simulator = try RunningFCM()
    let words = ["-s", "--http1.1", "--cacert", simulator.process.authorityPath]
    let urls = (0..<5).map { _ in simulator.url + "/simulator/stats" }
    let result = try Tool.run("/usr/bin/curl", words + urls)
    let total = result.output.components(separatedBy: #""total":1"#).count - 1
    #expect(total == 5, "\(result.output)")
  }

  @Test(arguments: [
    ("{}", 200, "access_token"),
    (#"{"iss":"nobody@rides.iam.gserviceaccount.com"}"#, 400, "account not found"),
    (#"{"iat":null}"#, 400, "iat (issued at) is not set"),
    (#"{"exp":null}"#, 400, "exp (expiration time) is not set"),
    (#"{"iat":1,"exp":3601}"#, 400, "reasonable timeframe"),
    (#"{"exp":4000000000}"#, 400, "reasonable timeframe"),
    (#"{"scope":""}"#, 400, "invalid_scope"), (#"{"scope":"x"}"#, 200, "id_token"),
    (#"{"aud":"https://example.com"}"#, 400, "Failed audience check"),
    (#"{"aud":"https://oauth2.googleapis.com/token"}"#, 200, "access_token"),
  ])
  func `the token endpoint checks claims in Google's words`(
    claims: String, status: Int, text: String
  ) throws {
    let simulator = try RunningFCM()
    let reply = try simulator.exchange(simulator.assertion(claims))
    #expect(reply.status == status)
    #expect(reply.body.contains(text), "\(reply.body)")
  }

  @Test func `the token endpoint checks form, algorithm and signature`() throws {
    let simulator = try RunningFCM()
    #expect(try simulator.exchange("x.y").body.contains("invalid_request"))
    let other = try simulator.assertion(header: #"{"alg":"none"}"#)
    #expect(try simulator.exchange(other).body.contains("Invalid JWT Signature."))
    let good = try simulator.assertion()
    let cut = String(good.dropLast(4)) + "AAAA"
    #expect(try simulator.exchange(cut).body.contains("Invalid JWT Signature."))
  }

  @Test func `each credential that is wrong has its own answer`() throws {
    let simulator = try RunningFCM(["--project", "rides", "--project", "meals"])
    let path = "/v1/projects/rides/messages:send"
    #expect(try simulator.call(path, "{}").body.contains("CREDENTIALS_MISSING"))
    #expect(try simulator.send("{}", as: "x").status == 401)
    let other = try simulator.accessToken(project: "meals")
    let message = RunningFCM.message()
    #expect(try simulator.send(message, as: other).status == 403)
    #expect(try simulator.send(message, as: other, to: "trains").status == 404)
    let token = try simulator.accessToken()
    #expect(try simulator.send(message, as: token).status == 200)
    _ = try simulator.call("/simulator/expire-tokens", "")
    #expect(try simulator.send(message, as: token).body.contains("ACCESS_TOKEN_EXPIRED"))
  }

  @Test func `a refusal has the record's detail in a header`() throws {
    let simulator = try RunningFCM()
    let token = try simulator.accessToken()
    let reply = try simulator.send(#"{"message":{"fid":"é"}}"#, as: token)
    let detail = try #require(try simulator.process.records().first?["detail"] as? String)
    #expect(reply.headers["fcm-simulator-detail"] == detail && !detail.isEmpty)
    #expect(reply.body.contains(detail))
    let accepted = try simulator.send(RunningFCM.message(), as: token)
    #expect(accepted.headers["fcm-simulator-detail"] == nil)
    let lost = try simulator.call("/v1/rides/messages:send", "{}")
    let expected = "expected POST /v1/projects/<project>/messages:send or /token"
    #expect(lost.status == 404 && lost.headers["fcm-simulator-detail"] == expected)
  }

  @Test func `registrations of other projects, packages and phones are refused`() throws {
    let directory = FileManager.default.temporaryDirectory.appendingPathComponent(
      "fcm-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    let text = """
      {"dX3abcdefghijklmnopqrs":{"project":"meals"},"eX3abcdefghijklmnopqrs":{"package":"a.b"},
       "fX3abcdefghijklmnopqrs":{"state":"offline"}}
      """
    try Data(text.utf8).write(to: directory.appendingPathComponent("registrations.json"))
    let process = try SimulatorProcess("fcm-simulator", directory: directory)
    let simulator = RunningFCM(process)
    let token = try simulator.accessToken()
    func send(_ fid: String, _ android: String = "") throws -> String {
      try simulator.send(#"{"message":{"fid":"\#(fid)","android":{\#(android)}}}"#, as: token).body
    }
    #expect(try send("dX3abcdefghijklmnopqrs").contains("SENDER_ID_MISMATCH"))
    let package = #""restricted_package_name":"c.d""#
    #expect(try send("eX3abcdefghijklmnopqrs", package).contains("INVALID_ARGUMENT"))
    #expect(try send("fX3abcdefghijklmnopqrs").contains("messages/0:"))
    #expect(try simulator.process.records("deliveries").isEmpty)
    let woken = try simulator.call("/phones/fX3abcdefghijklmnopqrs/awake", "")
    #expect(woken.body.contains(#""outcome":"delivered""#))
    #expect(try send("nonsense").contains("is not a valid FCM registration token"))
    _ = try simulator.call("/phones/\(RunningFCM.fid)/uninstalled", "")
    #expect(try send(RunningFCM.fid).contains("UNREGISTERED"))
  }

  @Test func `the rates of a project and of a phone have their own answers`() throws {
    let simulator = try RunningFCM(["--quota", "2/60", "--device-rate", "1/60"])
    let token = try simulator.accessToken()
    let bodies = try (0..<2).map { _ in
      try simulator.send(RunningFCM.message(), as: token).body
    }
    #expect(bodies[0].contains("messages/0:"))
    #expect(bodies[1].contains("device:"))
    let other = RunningFCM.message().replacing(RunningFCM.fid, with: "dX3abcdefghijklmnopqrs")
    #expect(try simulator.send(other, as: token).status == 200)
    let reply = try simulator.send(other, as: token)
    #expect(reply.body.contains("project:rides"))
    #expect(reply.headers["retry-after"] == "60")
  }

  @Test(arguments: [
    (#"{"answer":{"status":503,"reason":"UNAVAILABLE","retry_after":7}}"#, 503, "UNAVAILABLE"),
    (#"{"answer":{"status":502,"body":"<html>Bad Gateway</html>"}}"#, 502, "<html>"),
    (#"{"answer":{"status":401,"reason":"UNAUTHENTICATED"}}"#, 401, "UNAUTHENTICATED"),
    (#"{"answer":{"status":429,"reason":"QUOTA_EXCEEDED"}}"#, 429, "project:rides"),
    (#"{"answer":{"status":429,"reason":"DEVICE_QUOTA_EXCEEDED"}}"#, 429, "device:nopqrs"),
    (#"{"answer":{"status":403,"reason":"SERVICE_DISABLED"}}"#, 403, "google.rpc.ErrorInfo"),
    (#"{"answer":{"status":400,"reason":"INVALID_REGISTRATION"}}"#, 400, "message.token"),
    (#"{"close":true}"#, 0, ""), (#"{"goaway":{"last_stream":"previous"}}"#, 0, ""),
    (#"{"goaway_two_step":true}"#, 200, "messages/0:"),
  ])
  func `faults strike messages`(action: String, status: Int, text: String) throws {
    let simulator = try RunningFCM()
    let token = try simulator.accessToken()
    try simulator.setFaults(#"[{"match":{"call":"send"},"action":\#(action),"times":1}]"#)
    let reply = try simulator.send(RunningFCM.message(), as: token)
    #expect(reply.status == status)
    #expect(text.isEmpty || reply.body.contains(text))
  }

  @Test func `a fault of the token endpoint has its own body`() throws {
    let simulator = try RunningFCM()
    let answer = #"{"status":400,"body":"{\"error\":\"invalid_grant\"}"}"#
    try simulator.setFaults(#"[{"match":{"call":"token"},"action":{"answer":\#(answer)}}]"#)
    let reply = try simulator.exchange(simulator.assertion())
    #expect(reply.status == 400)
    #expect(reply.body == #"{"error":"invalid_grant"}"#)
  }

  @Test(arguments: [
    (#""retry_after":7"#, "7", "7"),
    (#""retry_after":7,"retry_after_date":true"#, "", " GMT"),
  ])
  func `a wait is told in seconds or as a date`(
    members: String, start: String, end: String
  ) throws {
    let simulator = try RunningFCM()
    let token = try simulator.accessToken()
    let answer = #"{"status":503,"reason":"UNAVAILABLE",\#(members)}"#
    try simulator.setFaults(#"[{"action":{"answer":\#(answer)}}]"#)
    let reply = try simulator.send(RunningFCM.message(), as: token)
    let value = try #require(reply.headers["retry-after"])
    #expect(value.hasPrefix(start) && value.hasSuffix(end))
    #expect(reply.headers["date"]?.hasSuffix(" GMT") == true)
  }

  @Test func `an answer may break off in the middle of its body`() throws {
    let simulator = try RunningFCM()
    let token = try simulator.accessToken()
    try simulator.setFaults(#"[{"match":{"call":"send"},"action":{"half_body":true}}]"#)
    let body = try ScratchFile(Data(RunningFCM.message().utf8))
    let url = simulator.url + "/v1/projects/rides/messages:send"
    let authorization = ["-H", "authorization: Bearer \(token)"]
    // Curl gives nothing of a stream that was reset; nghttp shows its frames.
    let frames = try Tool.run(
      "/usr/bin/nghttp", ["-n", "-v", "-d", body.url.path] + authorization + [url]
    ).output
    for part in [":status: 200", "recv DATA frame", "error_code=INTERNAL_ERROR"] {
      #expect(frames.contains(part), "\(frames)")
    }
    let words = [
      "-s", "--http1.1", "--max-time", "60", "--cacert", simulator.process.authorityPath,
    ]
    let result = try Tool.run(
      "/usr/bin/curl", words + authorization + ["--data-binary", "@" + body.url.path, url])
    // Curl's number for a body that is shorter than announced.
    #expect(result.status == 18)
    #expect(result.output.hasPrefix(#"{"name":"proj"#) && !result.output.hasSuffix("}"))
  }

  @Test func `a registration may be reported as gone although its phone got the message`() throws {
    let simulator = try RunningFCM()
    let token = try simulator.accessToken()
    let answer = #"{"status":404,"reason":"UNREGISTERED","accepted":true}"#
    try simulator.setFaults(#"[{"match":{"call":"send"},"action":{"answer":\#(answer)}}]"#)
    let reply = try simulator.send(RunningFCM.message(), as: token)
    #expect(reply.status == 404)
    #expect(reply.body.contains("UNREGISTERED"))
    #expect(try simulator.process.records("deliveries").count == 1)
    #expect(try simulator.process.records().first?["code"] as? String == "UNREGISTERED")
  }

  @Test func `messages may arrive twice`() throws {
    let simulator = try RunningFCM(["--duplicate", "1/1"])
    let token = try simulator.accessToken()
    _ = try simulator.send(RunningFCM.message(), as: token)
    let deliveries = try simulator.process.records("deliveries")
    #expect(deliveries.map { $0["duplicate"] as? Bool } == [nil, true])
    #expect(deliveries.map { $0["outcome"] as? String } == ["delivered", "delivered"])
  }

  @Test func `a repeat is compared with the first message`() throws {
    let simulator = try RunningFCM()
    let token = try simulator.accessToken()
    func send(_ id: String, _ event: String, ttl: String) throws {
      let data = #""data":{"rp_id":"\#(id)","event":"\#(event)"}"#
      _ = try simulator.send(RunningFCM.message(data, ttl: ttl), as: token)
    }
    try send("a", "x", ttl: "300s")
    try send("a", "x", ttl: "299s")
    try send("a", "y", ttl: "300s")
    try send("b", "y", ttl: "300s")
    let repeats = try simulator.process.records().map { $0["repeat"] as? String }
    #expect(repeats == [nil, "same", "different", nil])
  }

  /// A client of its own, because curl does not ping.
  @Test func `pings that ask about no request end the connection`() throws {
    let simulator = try RunningFCM()
    let script = """
      import socket, ssl, struct, sys
      context = ssl.create_default_context(cafile=sys.argv[2])
      context.set_alpn_protocols(["h2"])
      stream = context.wrap_socket(
          socket.create_connection(("127.0.0.1", int(sys.argv[1]))), server_hostname="127.0.0.1")
      def frame(kind, flags, body):
          return struct.pack(">I", len(body))[1:] + bytes([kind, flags, 0, 0, 0, 0]) + body
      stream.sendall(b"PRI * HTTP/2.0\\r\\n\\r\\nSM\\r\\n\\r\\n" + frame(4, 0, b""))
      stream.sendall(frame(6, 0, b"12345678") + frame(6, 0, b"12345678"))
      data = b""
      while True:
          more = stream.recv(65536)
          if not more: break
          data += more
      while len(data) >= 9:
          size = int.from_bytes(data[:3], "big")
          if data[3] == 7: print(int.from_bytes(data[13:17], "big"), data[17:9 + size].decode())
          data = data[9 + size:]
      """
    let result = try Tool.run(
      "/usr/bin/python3",
      ["-c", script, String(simulator.process.port), simulator.process.authorityPath])
    #expect(result.output == "11 too_many_pings\n", "\(result.errors)")
  }

  /// HTTP/1.1 has no SETTINGS: its connections are not counted.
  @Test func `a connection may begin without SETTINGS`() throws {
    let simulator = try RunningFCM()
    let token = try simulator.accessToken()
    try simulator.setFaults(#"[{"action":{"no_settings":true},"times":1}]"#)
    let message = RunningFCM.message()
    #expect(try simulator.send(message, as: token, http: "--http1.1").status == 200)
    let frames = try Tool.run("/usr/bin/nghttp", ["-n", "-v", simulator.url + "/"]).output
    #expect(frames.contains("SETTINGS expected"), "\(frames)")
    #expect(try simulator.send(message, as: token).status == 200)
  }

  @Test func `validate_only delivers nothing`() throws {
    let simulator = try RunningFCM()
    let token = try simulator.accessToken()
    let message = RunningFCM.message().replacing(
      #"{"message""#, with: #"{"validate_only":true,"message""#)
    #expect(try simulator.send(message, as: token).body.contains("fake_message_id"))
    #expect(try simulator.process.records("deliveries").isEmpty)
  }
}
