import Base
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import PushClient

/// A running fcm-simulator, and a mint that fetches its tokens.
final class TokenServer {
  let process: SimulatorProcess
  let account: ServiceAccount
  private let received = Received()

  init(_ words: [String] = [], faults: String? = nil) throws {
    process = try SimulatorProcess("fcm-simulator", words)
    account = try ServiceAccount(
      path: process.directory.appendingPathComponent("service-account.json").path)
    if let faults { try setFaults(faults) }
  }

  var url: String { "https://127.0.0.1:\(process.port)" }

  /// The events of mints so far.
  var events: [AccessTokenMint.Event] { received.events.withLock { $0 } }

  /// How many exchanges were asked for.
  var exchanges: Int { get throws { try process.records("tokens").count } }

  func mint(
    _ other: ServiceAccount? = nil, trust: String? = nil, clockOffset: Duration = .zero,
    timeout: Duration = .seconds(10)
  ) -> AccessTokenMint {
    let received = received
    return AccessTokenMint(
      account: other ?? account, trust: trust ?? process.authorityPath, timeout: timeout,
      now: { TokenServer.clock + clockOffset },
      events: { event in received.events.withLock { $0.append(event) } })
  }

  private final class Received: Sendable {
    let events = Mutex<[AccessTokenMint.Event]>([])
  }

  static var clock: Timestamp {
    Timestamp(microseconds: Int64(Date().timeIntervalSince1970 * 1e6))
  }

  /// The file of the account, with other members.
  func account(_ changes: [String: String]) throws -> ServiceAccount {
    let path = process.directory.appendingPathComponent("service-account.json")
    let members = try #require(
      try JSONSerialization.jsonObject(with: Data(contentsOf: path)) as? [String: String])
    let json = try JSONSerialization.data(
      withJSONObject: members.merging(changes) { $1 })
    return try ServiceAccount(json: Array(json), file: "changed.json")
  }

  func setFaults(_ faults: String) throws {
    #expect(try call("/simulator/faults", faults) == 200)
  }

  func expireTokens() throws { #expect(try call("/simulator/expire-tokens", "") == 200) }

  /// Sends a message with a token, by curl; returns the status.
  func send(as token: AccessTokenState.Token) throws -> Int {
    try call(
      "/v1/projects/rides/messages:send",
      #"{"message":{"fid":"cX3abcdefghijklmnopqrs","data":{"a":"1"}}}"#,
      ["authorization: " + String(decoding: token.authorization, as: UTF8.self)])
  }

  private func call(_ path: String, _ body: String, _ headers: [String] = []) throws -> Int {
    let words = ["-s", "-o", "/dev/null", "-w", "%{http_code}", "--cacert", process.authorityPath]
    let result = try Tool.run(
      "/usr/bin/curl",
      words + headers.flatMap { ["-H", $0] } + ["--data-binary", body, url + path])
    return Int(result.output) ?? 0
  }
}

extension AccessTokenMint {
  /// Waits until an exchange has ended, and returns the token; nil if it gave none.
  func firstToken() async throws -> AccessTokenState.Token? {
    try await wait(until: "an exchange has ended") { token() != nil || problem != nil }
    return token()
  }
}
