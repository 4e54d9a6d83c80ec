import Base
import CLibcurl
import Foundation
import RideCore

/// The answer to one push, as far as it has been received.
struct PushResponse {
  /// The rest of a longer body is dropped; Apple's bodies are under 100 bytes, Google's under 1 KB.
  static let bodyLimit = 4096

  /// The final status; 0 until it is received.
  private(set) var status = 0

  private(set) var body: [UInt8] = []
  private(set) var retryAfter: [UInt8]?
  private(set) var date: [UInt8]?
  /// The value of `apns-unique-id`; nil if there was none that a row can hold.
  private(set) var uniqueID: String?

  /// Records the status; later values are ignored, because trailers can't change the status.
  mutating func receive(status text: UnsafeBufferPointer<UInt8>) {
    guard status == 0, text.count == 3 else { return }
    var number = 0
    for index in text.indices {
      let byte = unsafe text[index]
      guard byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") else { return }
      number = number * 10 + Int(byte - UInt8(ascii: "0"))
    }
    // A 1xx status is an interim response, not the answer.
    if number >= 200 { status = number }
  }

  mutating func receive(retryAfter text: UnsafeBufferPointer<UInt8>) {
    retryAfter = unsafe Array(text.prefix(64))
  }

  /// Records the date of a refusal; it matters only if a clock may be wrong.
  mutating func receive(date text: UnsafeBufferPointer<UInt8>) {
    if status >= 400 { date = unsafe Array(text.prefix(64)) }
  }

  /// Records the ID by which Apple's console finds the push.
  ///
  /// Apple does not state its form, and it is printed: only visible characters are accepted.
  mutating func receive(uniqueID text: UnsafeBufferPointer<UInt8>) {
    guard (1...64).contains(text.count), unsafe text.allSatisfy({ $0 > 0x20 && $0 < 0x7f }) else {
      return
    }
    uniqueID = unsafe String(decoding: text, as: UTF8.self)
  }

  /// Stores a piece of the body; returns false if the body exceeds `bodyLimit`.
  mutating func receive(body piece: UnsafeBufferPointer<UInt8>) -> Bool {
    let room = Self.bodyLimit - body.count
    unsafe body.append(contentsOf: piece.prefix(room))
    return piece.count <= room
  }

  /// Returns the outcome that the answer reports, or nil if no final status was received.
  ///
  /// - Parameter wait: How long the push has waited for the answer.
  func outcome(
    at now: Timestamp, from provider: Provider = .apns, after wait: Duration = .zero
  ) -> PushOutcome? {
    guard status != 0 else { return nil }
    guard status != 200 else { return .accepted }
    var refusal = Refusal(status: status)
    refusal.retryAfter = retryAfter.flatMap { RetryAfter.duration(of: $0, at: now) }
    refusal.serverTime = date.flatMap(RetryAfter.date)
    switch provider {
    case .apns:
      if let reason = ReasonBody(body) {
        refusal.reason = reason.reason
        refusal.timestamp = reason.timestamp
      }
    case .fcm:
      let answer = FCMAnswer(status: status, body)
      refusal.reason = answer.word
      refusal.detail = answer.detail
      // FCM states no time: a phone that registered after the push left is another matter.
      if refusal.rule.token == .gone { refusal.timestamp = now - wait }
    }
    return .refused(refusal)
  }

  /// Returns the ID that the server gave the push; nil if there was none that a row can hold.
  func uniqueID(from provider: Provider) -> String? {
    switch provider {
    case .apns: uniqueID
    case .fcm: status == 200 ? FCMAnswer.messageID(body) : nil
    }
  }
}

/// Apple's JSON body with `reason` and `timestamp`; the answer of a proxy or a GOAWAY may have
/// none.
struct ReasonBody {
  private(set) var reason: String?
  private(set) var timestamp: Timestamp?

  /// Returns nil if the bytes are not a JSON object.
  init?(_ bytes: [UInt8]) {
    guard bytes.first == UInt8(ascii: "{"),
      let object = try? JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any]
    else { return nil }
    // Metrics count reasons by name, so a text of unlimited length is not accepted as one.
    if let text = object["reason"] as? String, (1...128).contains(text.utf8.count) {
      reason = text
    }
    if let number = object["timestamp"] as? NSNumber,
      let milliseconds = Int64(exactly: number.doubleValue.rounded()), milliseconds >= 0
    {
      let (microseconds, overflow) = milliseconds.multipliedReportingOverflow(by: 1000)
      if !overflow { timestamp = Timestamp(microseconds: microseconds) }
    }
  }
}

/// Parses the value of `retry-after`: seconds or an HTTP date.
enum RetryAfter {
  /// The upper limit; longer waits are of no use.
  static let longest: Duration = .seconds(24 * 3600)

  /// Returns how long to wait, or nil if the value has neither form.
  static func duration(of value: [UInt8], at now: Timestamp) -> Duration? {
    let text = String(decoding: value, as: UTF8.self)
      .trimmingPrefix { $0 == " " }
    guard !text.isEmpty else { return nil }
    if text.utf8.allSatisfy({ $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") }) {
      return min(longest, .seconds(Int64(text) ?? 24 * 3600))
    }
    return date(Array(text.utf8)).map { min(longest, max(.zero, $0 - now)) }
  }

  /// Parses an HTTP date.
  static func date(_ value: [UInt8]) -> Timestamp? {
    let text = String(decoding: value, as: UTF8.self)
    // curl_getdate also accepts scraps such as "12:30" or "tomorrow"; an HTTP date ends in GMT.
    guard text.hasSuffix("GMT") else { return nil }
    let seconds = unsafe text.withCString { unsafe curl_getdate($0, nil) }
    return seconds < 0 ? nil : Timestamp(epochSeconds: Int64(seconds))
  }
}
