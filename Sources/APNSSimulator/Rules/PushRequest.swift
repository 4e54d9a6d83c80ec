struct Header: Equatable, Sendable {
  let name: String
  let value: String
}

/// A request as received; pseudo-headers are included, in the order received.
struct PushRequest: Equatable, Sendable {
  var headers: [Header] = []
  var body: [UInt8] = []
  /// May exceed `body.count`, which stops growing at a size that is refused anyway.
  var bodyBytes = 0

  func value(_ name: String) -> String? {
    headers.first { $0.name == name }?.value
  }

  var method: String { value(":method") ?? "" }
  var path: String { value(":path") ?? "" }
}
