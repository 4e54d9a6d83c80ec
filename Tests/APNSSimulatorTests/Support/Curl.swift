import Foundation
import TestSupport
import Testing

extension RunningSimulator {
  static let token = String(repeating: "ab", count: 32)

  /// The arguments for a good alert; curl keeps the connection for all pushes of one invocation.
  func words(
    token: String = token, jwt: String? = nil, payload: String = #"{"aps":{"alert":"x"}}"#,
    expiration: Int = 0
  ) throws -> [String] {
    try headers(jwt ?? freshJWT(), expiration: expiration) + common
      + ["--data-binary", payload, "https://127.0.0.1:\(port)/3/device/\(token)"]
  }

  private func headers(_ jwt: String, expiration: Int = 0) -> [String] {
    [
      "authorization: bearer \(jwt)", "apns-push-type: alert",
      "apns-topic: com.example.customer", "apns-priority: 10",
      "apns-expiration: \(expiration)", "apns-id: 123e4567-e89b-12d3-a456-426614174000",
      "content-type: application/json",
    ].flatMap { ["-H", $0] }
  }

  /// Returns nghttp's log of one push, frame by frame.
  func frames(jwt: String? = nil) throws -> String {
    let body = try ScratchFile(Data(#"{"aps":{"alert":"x"}}"#.utf8))
    let url = "https://127.0.0.1:\(port)/3/device/\(Self.token)"
    let words = try ["-n", "-v", "-d", body.url.path] + headers(jwt ?? freshJWT()) + [url]
    return try Tool.run("/usr/bin/nghttp", words).output
  }

  /// Returns the stream limits that the server announced on one connection with one push.
  func streamLimits(jwt: String? = nil) throws -> [Int] {
    let setting = "[SETTINGS_MAX_CONCURRENT_STREAMS(0x03):"
    let received = try frames(jwt: jwt).components(separatedBy: "recv SETTINGS").dropFirst()
    return received.compactMap { frame in
      let parts = frame.components(separatedBy: setting)
      return parts.count > 1 ? Int(parts[1].prefix { $0 != "]" }) : nil
    }
  }

  private func freshJWT() throws -> String {
    try JWT(issuedAt: Int(Date().timeIntervalSince1970)).signed(keyPath: keyPath)
  }

  private var common: [String] {
    ["-s", "-S", "-i", "--http2", "--max-time", "60", "--cacert", authorityPath]
  }

  func curl(_ words: [String]) throws -> Tool {
    try Tool.run("/usr/bin/curl", words)
  }

  func push(
    token: String = token, jwt: String? = nil, payload: String = #"{"aps":{"alert":"x"}}"#,
    expiration: Int = 0
  ) throws -> Reply {
    let words = try words(token: token, jwt: jwt, payload: payload, expiration: expiration)
    return Reply(try curl(words).output)
  }

  func control(_ method: String, _ path: String, _ body: String? = nil) throws -> Reply {
    let data = body.map { ["--data-binary", $0] } ?? []
    let url = "https://127.0.0.1:\(port)/simulator/\(path)"
    return Reply(try curl(["-X", method] + common + data + [url]).output)
  }

  func setFaults(_ faults: String) throws {
    let reply = try control("POST", "faults", faults)
    #expect(reply.status == 200, "\(reply.body)")
  }
}
