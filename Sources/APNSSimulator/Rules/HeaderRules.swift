import SimulatorKit

/// The values of `apns-push-type`, and the topic, priority and size that each type requires.
enum PushType: String, CaseIterable, Sendable {
  case alert, background, complication, controls, fileprovider, liveactivity, location, mdm
  case pushtotalk, voip, widgets

  /// What follows the bundle ID in the topic.
  var topicSuffix: String {
    switch self {
    case .alert, .background: ""
    case .complication: ".complication"
    case .controls: ".push-type.controls"
    case .fileprovider: ".pushkit.fileprovider"
    case .liveactivity: ".push-type.liveactivity"
    case .location: ".location-query"
    // The topic is the user ID of the certificate of device management: `managementPrefix`.
    case .mdm: ""
    case .pushtotalk: ".voip-ptt"
    case .voip: ".voip"
    case .widgets: ".push-type.widgets"
    }
  }

  /// What the topics of device management begin with, which no bundle ID does.
  static let managementPrefix = "com.apple.mgmt."

  /// True if Apple carries the type only with a provider token.
  var needsToken: Bool {
    switch self {
    case .liveactivity, .location, .widgets, .controls: true
    default: false
    }
  }

  /// True if the phone reads `aps`; the payload of the other types belongs to the app.
  var needsAps: Bool {
    switch self {
    case .alert, .background, .controls, .liveactivity, .widgets: true
    default: false
    }
  }

  var priorities: [String] {
    self == .background ? ["5"] : ["10", "5", "1"]
  }

  var maximumPayloadBytes: Int {
    self == .voip ? 5120 : 4096
  }

  /// The type of a push without `apns-push-type`, which only watchOS requires.
  init(topic: String, aps: [String: JSON], in context: RuleContext) {
    let named = Self.allCases.first { !$0.topicSuffix.isEmpty && topic.hasSuffix($0.topicSuffix) }
    if let named, !context.bundleIDs.contains(topic) {
      self = named
    } else if topic.hasPrefix(Self.managementPrefix) {
      self = .mdm
    } else {
      let isShown = ["alert", "badge", "sound"].contains { aps[$0] != nil }
      self = aps["content-available"] != nil && !isShown ? .background : .alert
    }
  }
}

/// Rules for the method, the path and the form of the header list.
enum RequestRules {
  static let all: [Rule] = [
    Rule("method is POST") { push in
      push.request.method == "POST" ? nil : Refusal(.methodNotAllowed, "only POST is allowed")
    },
    scheme,
    Rule("path is /3/device/<token>") { push in
      guard let token = push.deviceToken, !token.contains("/") else {
        return Refusal(.badPath, "expected /3/device/<token>")
      }
      return nil
    },
    noHeaderTwice,
    Rule("path names a token") { push in
      push.deviceToken == "" ? Refusal(.missingDeviceToken, "no token in the path") : nil
    },
    Rule("token is hex") { push in
      isDeviceToken(push.deviceToken ?? "")
        ? nil : Refusal(.badDeviceToken, "a token is 64 to 512 hex digits, an even number")
    },
  ]

  static let scheme = Rule("scheme is https") { push in
    push.header(":scheme") == "https" ? nil : Refusal(.badPath, ":scheme must be https")
  }

  static let noHeaderTwice = Rule("no header twice") { push in
    var names: Set<String> = []
    let twice = push.request.headers.first { !names.insert($0.name).inserted }
    return twice.map { Refusal(.duplicateHeaders, "\($0.name) is given twice") }
  }

  /// Returns whether a text has the form of a device token.
  ///
  /// Tokens have no fixed size. None shorter than 32 bytes was ever seen; the upper limit is that of
  /// RidePulse's own tables.
  static func isDeviceToken(_ text: some StringProtocol) -> Bool {
    let bytes = text.utf8
    return bytes.count % 2 == 0 && (64...512).contains(bytes.count)
      && bytes.allSatisfy(\.isHexDigit)
  }
}

/// Rules for the `apns-` headers.
enum HeaderRules {
  static let daySeconds = 86_400
  static let maximumStorageSeconds = 31 * daySeconds
  static let maximumCollapseIDBytes = 64

  static let all: [Rule] = defaults + topic + CredentialRules.pushScope + values

  /// Headers without which APNs assumes a value: the one meant, or another.
  private static let defaults: [Rule] = [
    required("apns-push-type", .invalidPushType), required("apns-topic", .missingTopic),
    required("apns-priority", .badPriority), required("apns-expiration", .badExpirationDate),
    required("apns-id", .badMessageID),
  ]

  private static func required(_ name: String, _ reason: Reason) -> Rule {
    Rule("\(name) is there", of: .headers) { push in
      push.header(name) == nil ? Refusal(reason, "no \(name)") : nil
    }
  }

  private static let topic: [Rule] = [
    Rule("push type is known") { push in
      guard push.pushType == nil else { return nil }
      let found = push.header("apns-push-type") ?? "none"
      return Refusal(.invalidPushType, "apns-push-type is \(found)")
    },
    Rule("topic is there") { push in
      push.topic == nil ? Refusal(.missingTopic, "no apns-topic") : nil
    },
    Rule("topic has the form of a bundle ID") { push in
      isTopic(push.topic ?? "") ? nil : Refusal(.badTopic, "apns-topic is not a bundle ID")
    },
    Rule("topic is known, with the push type's suffix") { push in
      let suffix = push.pushType?.topicSuffix ?? ""
      let topic = push.topic ?? ""
      if topic.hasSuffix(suffix), push.context.bundleIDs.contains(push.bundleID) { return nil }
      if push.pushType == .mdm, topic.hasPrefix(PushType.managementPrefix) { return nil }
      let known = push.context.bundleIDs.sorted().map { $0 + suffix }.joined(separator: ", ")
      return Refusal(.topicDisallowed, "apns-topic is \(topic), expected one of \(known)")
    },
  ]

  private static let values: [Rule] = [
    Rule("priority suits the push type") { push in
      // Without the header the priority is 10.
      let found = push.header("apns-priority") ?? "10"
      let type = push.header("apns-push-type") == nil ? .alert : push.pushType
      let allowed = type?.priorities ?? []
      if allowed.contains(found) { return nil }
      let expected = allowed.joined(separator: " or ")
      return Refusal(.badPriority, "apns-priority is \(found), expected \(expected)")
    },
    Rule("expiration is 0 or epoch seconds") { push in
      let found = push.header("apns-expiration") ?? "0"
      return isExpiration(found)
        ? nil : Refusal(.badExpirationDate, "apns-expiration must be 0 or epoch seconds")
    },
    plausibleExpiration,
    Rule("id is a lower-case UUID") { push in
      push.header("apns-id").map(isMessageID) == false
        ? Refusal(.badMessageID, "apns-id must be a lower-case UUID") : nil
    },
    Rule("collapse id has 1 to 64 bytes") { push in
      guard let id = push.header("apns-collapse-id") else { return nil }
      return (1...maximumCollapseIDBytes).contains(id.utf8.count)
        ? nil : Refusal(.badCollapseID, "apns-collapse-id has \(id.utf8.count) bytes")
    },
    contentType,
  ]

  /// A value more than a day in the past is a duration mistaken for a time; one beyond APNs' 30
  /// days of storage is in milliseconds.
  static let plausibleExpiration = Rule("expiration is plausible", of: .headers) { push in
    guard let seconds = push.header("apns-expiration").flatMap({ Int($0) }) else { return nil }
    let now = push.context.now
    if seconds == 0 || (now - daySeconds...now + maximumStorageSeconds).contains(seconds) {
      return nil
    }
    return Refusal(.badExpirationDate, "apns-expiration is \(seconds - now) s from now")
  }

  static let contentType = Rule("content type is JSON", of: .headers) { push in
    guard let type = push.header("content-type"), type != "application/json" else { return nil }
    return Refusal(.badContentType, "content-type is \(type)")
  }

  static func isTopic(_ text: String) -> Bool {
    let labels = text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    return labels.count > 1
      && labels.allSatisfy { label in
        !label.isEmpty
          && label.allSatisfy { byte in
            byte == UInt8(ascii: "-") || byte.isASCIILetterOrDigit
          }
      }
  }

  static func isExpiration(_ text: String) -> Bool {
    guard let seconds = Int(text) else { return false }
    return seconds >= 0 && String(seconds) == text
  }

  static func isMessageID(_ text: String) -> Bool {
    let bytes = text.utf8
    guard bytes.count == 36 else { return false }
    return zip(0..<36, bytes).allSatisfy { index, byte in
      [8, 13, 18, 23].contains(index)
        ? byte == UInt8(ascii: "-") : byte.isHexDigit && !(0x41...0x46).contains(byte)
    }
  }
}

extension UInt8 {
  var isASCIILetterOrDigit: Bool {
    switch self {
    case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
    default: false
    }
  }
}
