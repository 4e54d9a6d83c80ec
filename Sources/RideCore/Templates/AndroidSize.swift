import Base

/// The size of messages to Android phones, as FCM counts it: the bytes of keys and values of `data`
/// and of `notification`, without escapes.
package enum AndroidSize {
  /// The most bytes that FCM accepts.
  package static let limit = 4096

  /// Returns why FCM would refuse a message as too large; nil if it would not.
  static func problem(of body: [UInt8]) -> LedgerReason? {
    // Escapes and braces only add to it.
    if body.count <= limit { return nil }
    let fields = fields(of: body)
    let size = total(fields)
    if size <= limit { return nil }
    var largest = (path: "data", size: 0)
    for field in fields where field.size > largest.size { largest = (field.path, field.size) }
    return LedgerReason(
      .service("MESSAGE_TOO_LARGE"),
      "MESSAGE_TOO_LARGE: \(size) bytes of \(limit); "
        + "the largest field is \(largest.path) with \(largest.size)")
  }

  /// Returns the bytes that count of a message.
  package static func count(_ body: [UInt8]) -> Int {
    total(fields(of: body))
  }

  private typealias Field = (name: String, path: String, size: Int)

  private static func total(_ fields: [Field]) -> Int {
    fields.reduce(0) { $0 + $1.name.utf8.count + $1.size }
  }

  private static func fields(of body: [UInt8]) -> [Field] {
    let message = JSONValue(json: body)?["message"]
    // What Android's part states takes the place of what is common to all platforms.
    let groups = [
      (message?.value(at: ["android", "data"]) ?? message?["data"], ""),
      (message?["notification"], "notification."),
      (message?.value(at: ["android", "notification"]), "notification."),
    ]
    return groups.flatMap { group, prefix -> [Field] in
      guard case .object(let members)? = group else { return [] }
      return members.sorted { $0.key < $1.key }.map {
        ($0.key, prefix + $0.key, size(of: $0.value))
      }
    }
  }

  private static func size(of value: JSONValue) -> Int {
    switch value {
    case .string(let text): text.utf8.count
    case .array(let elements): elements.reduce(0) { $0 + size(of: $1) }
    default: value.json.count
    }
  }
}
