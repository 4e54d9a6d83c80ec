import Foundation
import RideCore

/// What has come of the answer to one push so far.
struct Answer {
  /// More of a body is not kept: Apple's are under 100 bytes.
  static let bodyLimit = 4096

  /// The final status; 0 before one came.
  private(set) var status = 0

  private(set) var body: [UInt8] = []
  private(set) var retryAfter: [UInt8]?
  private(set) var date: [UInt8]?

  /// A later value does not count: trailers can't change the status.
  mutating func receive(status text: UnsafeBufferPointer<UInt8>) {
    guard status == 0, text.count == 3 else { return }
    var number = 0
    for byte in unsafe Array(text) {
      guard byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") else { return }
      number = number * 10 + Int(byte - UInt8(ascii: "0"))
    }
    // 1xx announces the answer and is none.
    if number >= 200 { status = number }
  }

  mutating func receive(retryAfter text: UnsafeBufferPointer<UInt8>) {
    retryAfter = unsafe Array(text.prefix(64))
  }

  /// Of interest only where a clock may be at fault.
  mutating func receive(date text: UnsafeBufferPointer<UInt8>) {
    if status >= 400 { date = unsafe Array(text.prefix(64)) }
  }

  /// Keeps a piece of the body; false where there is more than anybody wants.
  mutating func receive(body piece: UnsafeBufferPointer<UInt8>) -> Bool {
    let room = Self.bodyLimit - body.count
    unsafe body.append(contentsOf: piece.prefix(room))
    return piece.count <= room
  }

  /// What the answer says; nil where it holds no status.
  func outcome(at now: Timestamp) -> PushOutcome? {
    guard status != 0 else { return nil }
    guard status != 200 else { return .accepted }
    var refusal = Refusal(status: status)
    refusal.retryAfter = retryAfter.flatMap { RetryAfter.duration(of: $0, at: now) }
    refusal.serverTime = date.flatMap(RetryAfter.date)
    if let reason = ReasonBody(body) {
      refusal.reason = reason.reason
      refusal.timestamp = reason.timestamp
    }
    return .refused(refusal)
  }
}

/// Apple's `{"reason": …, "timestamp": …}`, which a proxy's answer or a GOAWAY may not hold.
struct ReasonBody {
  private(set) var reason: String?
  private(set) var timestamp: Timestamp?

  /// Nil where the bytes are no JSON object.
  init?(_ bytes: [UInt8]) {
    guard bytes.first == UInt8(ascii: "{"),
      let object = try? JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any]
    else { return nil }
    // Reasons are counted by name, so a text without end is none.
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
