import Foundation
import TestSupport
import Testing

@testable import FCMSimulator

/// A running simulator, and Debian's curl and openssl as its clients.
struct RunningFCM {
  static let fid = "cX3abcdefghijklmnopqrs"

  let process: SimulatorProcess

  init(_ words: [String] = [], logs: Bool = false) throws {
    process = try SimulatorProcess("fcm-simulator", words, logs: logs)
  }

  init(_ process: SimulatorProcess) {
    self.process = process
  }

  var url: String { "https://127.0.0.1:\(process.port)" }

  private var common: [String] {
    ["-s", "-S", "-i", "--max-time", "60", "--cacert", process.authorityPath]
  }

  func call(
    _ path: String, _ body: String, http: String = "--http2", _ headers: [String] = []
  ) throws -> Reply {
    let fields = headers.flatMap { ["-H", $0] }
    let words = common + [http] + fields + ["--data-binary", body, url + path]
    return Reply(try Tool.run("/usr/bin/curl", words).output)
  }

  /// - Parameter changes: claims as JSON; null leaves one out.
  ///
  /// Signs an assertion by the `openssl` command, so that no code of the simulator signs it.
  func assertion(
    _ changes: String = "{}", project: String? = nil, header: String? = nil
  ) throws -> String {
    let name = project.map { "service-account-\($0).json" } ?? "service-account.json"
    let file = try Data(contentsOf: process.directory.appendingPathComponent(name))
    let account = try #require(
      try JSONSerialization.jsonObject(with: file) as? [String: String])
    let now = Int(Date().timeIntervalSince1970)
    var claims: [String: Any] = [
      "iss": account["client_email"] ?? "", "aud": account["token_uri"] ?? "", "iat": now,
      "exp": now + 3600, "scope": "https://www.googleapis.com/auth/firebase.messaging",
    ]
    let changes = try JSONSerialization.jsonObject(with: Data(changes.utf8)) as? [String: Any]
    for (name, value) in changes ?? [:] { claims[name] = value is NSNull ? nil : value }
    let text =
      Self.encode(Data((header ?? #"{"alg":"RS256","typ":"JWT"}"#).utf8)) + "."
      + Self.encode(try JSONSerialization.data(withJSONObject: claims))
    let key = try ScratchFile(Data((account["private_key"] ?? "").utf8))
    let source = try ScratchFile(Data(text.utf8))
    let made = try ScratchFile()
    _ = try Tool.run(
      "/usr/bin/openssl",
      ["dgst", "-sha256", "-sign", key.url.path, "-out", made.url.path, source.url.path])
    return text + "." + Self.encode(try Data(contentsOf: made.url))
  }

  func exchange(_ assertion: String, http: String = "--http1.1") throws -> Reply {
    let type = "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer"
    return try call("/token", type + "&assertion=" + assertion, http: http)
  }

  func accessToken(project: String? = nil) throws -> String {
    let reply = try exchange(assertion(project: project))
    let body = try JSONSerialization.jsonObject(with: Data(reply.body.utf8)) as? [String: Any]
    return try #require(body?["access_token"] as? String, "\(reply.body)")
  }

  func send(
    _ message: String, as token: String, to project: String = "rides", http: String = "--http2"
  ) throws -> Reply {
    try call(
      "/v1/projects/\(project)/messages:send", message, http: http,
      ["authorization: Bearer \(token)", "content-type: application/json"])
  }

  func setFaults(_ faults: String) throws {
    #expect(try call("/simulator/faults", faults).status == 200)
  }

  static func message(
    _ members: String = #""data":{"event":"driver_arrived"}"#, ttl: String = "300s"
  ) -> String {
    #"{"message":{"fid":"\#(fid)","android":{"priority":"HIGH","ttl":"\#(ttl)"},\#(members)}}"#
  }

  private static func encode(_ data: Data) -> String {
    data.base64EncodedString().replacingOccurrences(of: "+", with: "-")
      .replacingOccurrences(of: "/", with: "_").replacingOccurrences(of: "=", with: "")
  }
}
