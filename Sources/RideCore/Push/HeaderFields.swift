import Base

/// The name of a push's header.
package struct HeaderName: Sendable {
  package let text: StaticString

  /// False if the value differs with each push; in HTTP/2's header table it would evict values that
  /// repeat.
  package let repeats: Bool

  static let id = HeaderName(text: "apns-id", repeats: false)
  static let requestID = HeaderName(text: "apns-request-id", repeats: false)
  static let webhookID = HeaderName(text: "webhook-id", repeats: false)
  static let topic = HeaderName(text: "apns-topic", repeats: true)
  static let channelID = HeaderName(text: "apns-channel-id", repeats: true)
  static let pushType = HeaderName(text: "apns-push-type", repeats: true)
  static let priority = HeaderName(text: "apns-priority", repeats: true)
  static let expiration = HeaderName(text: "apns-expiration", repeats: false)
  static let collapseID = HeaderName(text: "apns-collapse-id", repeats: false)
}

extension PushHeaders {
  /// Appends the value of each header to `bytes`, in the order in which they are sent, and passes
  /// its name and byte range on.
  ///
  /// It is the only encoder: what is sent and what a dry run prints can't differ. It creates no
  /// String, because it runs for each push. `authorization` is not included: it belongs to the
  /// connection. A broadcast has a channel ID instead of the topic, and no collapse ID; a message to
  /// FCM has no headers of its own.
  package func write(
    to address: PushAddress, into bytes: inout [UInt8],
    _ field: (HeaderName, Range<Int>) -> Void
  ) {
    func write(_ name: HeaderName, _ append: (inout [UInt8]) -> Void) {
      let start = bytes.count
      append(&bytes)
      field(name, start..<bytes.count)
    }
    switch address {
    case .device:
      write(.id) { $0.append(id) }
      write(.topic) { $0.append(contentsOf: topic.utf8) }
    case .channel(let channel):
      write(.requestID) { $0.append(id) }
      write(.channelID) { $0.append(contentsOf: channel.id.rawValue.utf8) }
    case .registration: return
    case .post: return write(.webhookID) { $0.append(id) }
    }
    write(.pushType) { $0.append(contentsOf: pushType.rawValue.utf8) }
    write(.priority) { $0.append(decimal: Int64(priority.rawValue)) }
    write(.expiration) { $0.append(decimal: expiration.epochSeconds) }
    if case .device = address, let collapseID {
      write(.collapseID) { $0.append(contentsOf: collapseID.text.utf8) }
    }
  }

  /// The name and value of each header, in the order in which they are sent.
  package func fields(to address: PushAddress) -> [(name: String, value: String)] {
    var bytes: [UInt8] = []
    var fields: [(name: HeaderName, value: Range<Int>)] = []
    write(to: address, into: &bytes) { fields.append(($0, $1)) }
    return fields.map { name, value in
      ("\(name.text)", String(decoding: bytes[value], as: UTF8.self))
    }
  }
}

extension [UInt8] {
  /// Appends a UUID in lower case, 8-4-4-4-12.
  package mutating func append(_ id: PushID) {
    append(addingCapacity: 36) { text in
      var word = UInt64(truncatingIfNeeded: id.bits >> 64)
      for position in 0..<36 {
        if position == 8 || position == 13 || position == 18 || position == 23 {
          text.append(UInt8(ascii: "-"))
          // The third hyphen is in the middle of the ID.
          if position == 18 { word = UInt64(truncatingIfNeeded: id.bits) }
          continue
        }
        let digit = UInt8(truncatingIfNeeded: word >> 60)
        text.append(digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") - 10 + digit)
        word <<= 4
      }
    }
  }

  /// Appends a number in decimal digits; a negative number counts as 0.
  mutating func append(decimal number: Int64) { append(json: Swift.max(0, number)) }
}
