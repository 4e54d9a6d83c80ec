import SimulatorKit

/// The answer to an accepted request.
struct Grant: Equatable {
  var idHeader = "apns-id"
  var status = 200
  var headers: [Header] = []
  var body: [UInt8] = []
  /// The ID of the channel that was created.
  var channelID: String?
}

/// The answer to a push in APNs' form, based on a refusal, a fault or neither.
struct Verdict: Equatable {
  /// One header for refusals and for what the phone drops: the status tells them apart.
  static let detailHeader = "apns-simulator-detail"

  let status: Int
  let reason: String?
  /// Why the request was refused, or why the phone drops it; nil if a fault decides the answer.
  let detail: String?
  let timestamp: Int?
  let retryAfterSeconds: Int?
  let body: String?
  let apnsID: String
  let uniqueID: String?
  let date: String
  let grant: Grant

  init(
    _ refusal: Refusal?, dropped: String? = nil, fault: FaultAction?, apnsID: String,
    uniqueID: String?, at time: WallTime, grant: Grant = Grant()
  ) {
    date = time.httpDate
    self.grant = grant
    self.apnsID = apnsID
    self.uniqueID = uniqueID
    if case .answer(let answer) = fault {
      status = answer.status
      reason = answer.reason
      detail = nil
      timestamp = answer.timestamp
      retryAfterSeconds = answer.retryAfterSeconds
      body = answer.body
    } else {
      status = refusal?.reason.status ?? grant.status
      reason = refusal?.reason.rawValue
      detail = refusal?.detail ?? dropped
      timestamp = refusal?.timestamp
      retryAfterSeconds = nil
      body = nil
    }
  }

  func steps(_ fault: FaultAction?, stream: Int32) -> [Reaction.Step] {
    (fault ?? .proceed).steps(answer, stream: stream) { reason in
      JSON.object(["reason": .string(reason)]).serialized
    }
  }

  private var answer: Answer {
    var headers = [Header(name: grant.idHeader, value: apnsID)]
    if status == grant.status { headers += grant.headers }
    if let uniqueID { headers.append(Header(name: "apns-unique-id", value: uniqueID)) }
    // The cause of a refusal may be the client's clock.
    if status >= 400 { headers.append(Header(name: "date", value: date)) }
    if let detail { headers.append(Header(name: Self.detailHeader, text: detail)) }
    if let seconds = retryAfterSeconds {
      headers.append(Header(name: "retry-after", value: String(seconds)))
    }
    return Answer(status: status, headers: headers, body: bodyBytes)
  }

  private var bodyBytes: [UInt8] {
    if let body { return Array(body.utf8) }
    guard let reason else { return status == grant.status ? grant.body : [] }
    var members: [String: JSON] = ["reason": .string(reason)]
    if let timestamp { members["timestamp"] = .integer(timestamp) }
    return JSON.object(members).serialized
  }
}

/// Generates random lower-case UUIDs, version 4.
enum MessageID {
  static func random() -> String {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(36)
    let high = UInt64.random(in: .min ... .max) & ~0xF000 | 0x4000
    let low = UInt64.random(in: .min ... .max) & ~(3 << 62) | 1 << 63
    for index in 0..<32 {
      if [8, 12, 16, 20].contains(index) { bytes.append(UInt8(ascii: "-")) }
      let half = index < 16 ? high : low
      bytes.append([UInt8].hexDigits[Int(half >> UInt64(60 - 4 * (index % 16)) & 15)])
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}
