import Base
import Foundation
import RideCore
import Testing

@testable import PushClient

/// Whatever body APNs, or a proxy in its place, responds with, the status is reported, and the
/// values read from the body stay within bounds.
@Suite struct `Fuzzing of answers` {
  private static let now = Timestamp(epochSeconds: 1_800_000_000)

  @Test func `No body hides a status`() {
    Fuzz.run("answers", cases: 8000) { chance throws(Fuzz.Fault) in
      let statuses = chance.list(upTo: 3) { Self.status(by: &$0) }
      let body = Self.bytes(of: Self.bodies + [Self.message], &chance)
      let retryAfter = chance.percent(50) ? Self.bytes(of: Self.waits, &chance) : nil
      var answer = PushResponse()
      for status in statuses {
        unsafe Array(status.utf8).withUnsafeBufferPointer { unsafe answer.receive(status: $0) }
      }
      var rest = body[...]
      while !rest.isEmpty {
        let piece = Array(rest.prefix(chance.number(1...rest.count)))
        rest = rest.dropFirst(piece.count)
        unsafe piece.withUnsafeBufferPointer { unsafe _ = answer.receive(body: $0) }
      }
      if let retryAfter {
        unsafe retryAfter.withUnsafeBufferPointer { unsafe answer.receive(retryAfter: $0) }
      }
      try Self.check(answer.outcome(at: Self.now), statuses, body)
      try Self.checkMessage(answer.outcome(at: Self.now, from: .fcm), answer.status, body)
    }
  }

  private static func check(
    _ outcome: PushOutcome?, _ statuses: [String], _ body: [UInt8]
  ) throws(Fuzz.Fault) {
    let said = statuses.compactMap { text in
      text.utf8.count == 3 && text.utf8.allSatisfy { (48...57).contains($0) } ? Int(text) : nil
    }.first { $0 >= 200 }
    switch outcome {
    case nil: try require(said == nil, "\(statuses) is no answer")
    case .accepted: try require(said == 200, "\(statuses) is taken for 200")
    case .refused(let refusal):
      try require(refusal.status == said && said != 200, "\(statuses) is \(refusal)")
      let size = refusal.reason?.utf8.count ?? 1
      try require((1...128).contains(size), "a reason of \(size) bytes")
      try require((refusal.timestamp?.microseconds ?? 0) >= 0, "a time of \(refusal)")
      let wait = refusal.retryAfter ?? .zero
      try require(wait >= .zero && wait <= RetryAfter.longest, "a wait of \(wait)")
      // A body that Apple would write is read unchanged.
      if body == bodies[0] { try require(refusal.reason == "BadDeviceToken", "lost: \(refusal)") }
    case .unsent, .unanswered:
      throw Fuzz.Fault(text: "\(statuses) is \(String(describing: outcome))")
    }
  }

  /// FCM's answers: a registration is given up only for FCM's own word.
  private static func checkMessage(
    _ outcome: PushOutcome?, _ status: Int, _ body: [UInt8]
  ) throws(Fuzz.Fault) {
    guard case .refused(let refusal)? = outcome else {
      return try require((outcome == .accepted) == (status == 200), "\(status) is no answer")
    }
    try require(refusal.status == status, "\(status) is \(refusal)")
    try require(refusal.detail?.utf8.count ?? 0 <= 300, "a detail of \(refusal)")
    if refusal.rule.token == .gone {
      try require(status == 404 && refusal.reason == "UNREGISTERED", "gone by \(refusal)")
    }
    if body == message, status == 404 {
      try require(refusal.reason == "UNREGISTERED", "lost: \(refusal)")
    }
  }

  private static let message = Array(
    (#"{"error":{"code":404,"message":"Requested entity was not found.","status":"NOT_FOUND","#
      + #""details":[{"@type":"type.googleapis.com/google.firebase.fcm.v1.FcmError","#
      + #""errorCode":"UNREGISTERED"}]}}"#).utf8)

  private static func status(by chance: inout Chance) -> String {
    switch chance.number(0...4) {
    case 0: chance.pick("", "20", "2000", "abc", "+20", "-20", " 200", "2 0", "٢٠٠", "0x9", "099")
    case 1: String(decoding: chance.bytes(upTo: 4), as: UTF8.self)
    case 2: chance.pick("100", "103", "199")
    default: chance.pick("200", "400", "403", "404", "410", "413", "429", "500", "503", "999")
    }
  }

  private static func bytes(of seeds: [[UInt8]], _ chance: inout Chance) -> [UInt8] {
    switch chance.number(0...9) {
    case 0: chance.bytes(upTo: 200)
    case 1: chance.pick(of: seeds, else: [])
    default: mutation.mutate(chance.pick(of: seeds, else: []), &chance)
    }
  }

  private static let bodies: [[UInt8]] = [
    #"{"reason":"BadDeviceToken"}"#, #"{"reason":"Unregistered","timestamp":1700000000123}"#,
    #"{"timestamp":1.7e12,"reason":"ExpiredProviderToken","extra":[{},null,true]}"#,
    #"{"reason":"\ud83d\ude95\u0000é","timestamp":"1700000000123"}"#,
    "<html><body>502 Bad Gateway</body></html>", "", "{}", "[]",
    #"{"reason":""# + String(repeating: "x", count: 5000) + #""}"#,
    String(repeating: #"{"a":"#, count: 600) + "1" + String(repeating: "}", count: 600),
  ].map { Array($0.utf8) }

  private static let waits = [
    "2", "0", "86400", "99999999999999999999", "-1", "2.5", " 7", "Sun, 06 Nov 1994 08:49:37 GMT",
    "Wed, 21 Oct 9999 07:28:00 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
    "Sat, 31 Dec 99999999999 23:59:60 GMT", "GMT", "00:00 GMT",
  ].map { Array($0.utf8) }

  private static let mutation = Mutation([
    "{", "}", "[", "]", "\"", ":", ",", "\\", "\\u0000", "\\ud800", "null", "1e999", "-1", "0",
    "9223372036854775807", "9223372036854775", "\u{0}", "\"reason\":", "\"timestamp\":", " GMT",
    "1e18", "\u{feff}", "\u{ff}",
  ])
}
