import SimulatorKit

/// A file in the form of Apple's `simctl push`: a payload, with the app that it is for.
struct PushFile: Equatable {
  static let bundleKey = "Simulator Target Bundle"

  let bundleID: String?
  /// The payload without the key of the bundle ID.
  let payload: [UInt8]
  let aps: [String: JSON]

  init(_ content: [UInt8]) throws(FormatError) {
    let json = try FormatReader.json(content)
    guard var members = json.object else {
      throw FormatError(found: json.description, expected: "an object")
    }
    let bundle = members.removeValue(forKey: Self.bundleKey)
    if let bundle, bundle.string == nil {
      throw FormatError(
        path: "\"\(Self.bundleKey)\"", found: bundle.description, expected: "a string")
    }
    bundleID = bundle?.string
    // Without the key the payload is sent as it was written.
    payload = bundle == nil ? content : JSON.object(members).serialized
    aps = members["aps"]?.object ?? [:]
  }

  /// Returns the request that a sender makes of the file; flags go before what the file suggests.
  func request(_ options: PushOptions, authorization: String, at now: Int) throws(FormatError)
    -> Request
  {
    let type = type(options)
    guard let topic = options.topic ?? bundleID.map({ Self.topic(of: $0, type) }) else {
      throw FormatError(
        found: "no \"\(Self.bundleKey)\"", expected: "one, or the topic by --topic")
    }
    let expiration = options.expiresSeconds == 0 ? 0 : now + options.expiresSeconds
    var request = Request()
    request.headers = [
      Header(name: ":method", value: "POST"), Header(name: ":scheme", value: "https"),
      Header(name: ":authority", value: "127.0.0.1:\(options.sender.port)"),
      Header(name: ":path", value: "/3/device/\(options.token)"),
      Header(name: "authorization", value: authorization),
      Header(name: "apns-topic", value: topic),
      Header(name: "apns-push-type", value: type.rawValue),
      Header(name: "apns-priority", value: "\(options.priority ?? (type == .background ? 5 : 10))"),
      Header(name: "apns-expiration", value: "\(expiration)"),
      Header(name: "apns-id", value: MessageID.random()),
      Header(name: "content-type", value: "application/json"),
    ]
    if let id = options.collapseID {
      request.headers.append(Header(name: "apns-collapse-id", value: id))
    }
    request.body = payload
    request.bodyBytes = payload.count
    return request
  }

  /// Returns the type that the flags name, or that topic and payload suggest.
  func type(_ options: PushOptions) -> PushType {
    if let type = options.type { return type }
    let topic = options.topic ?? bundleID ?? ""
    let named = PushType.allCases.first {
      !$0.topicSuffix.isEmpty && topic.hasSuffix($0.topicSuffix)
    }
    return named ?? PushType(aps: aps)
  }

  private static func topic(of bundleID: String, _ type: PushType) -> String {
    bundleID.hasSuffix(type.topicSuffix) ? bundleID : bundleID + type.topicSuffix
  }
}

extension PushType {
  /// The type to which the keys of `aps` belong; a push that shows nothing known is an alert.
  init(aps: [String: JSON]) {
    func hasAny(_ keys: String...) -> Bool { keys.contains { aps[$0] != nil } }
    if hasAny("content-state", "event", "attributes-type") {
      self = .liveactivity
    } else if hasAny("content-changed") {
      self = .widgets
    } else {
      self =
        hasAny("content-available") && !hasAny("alert", "badge", "sound") ? .background : .alert
    }
  }
}
