/// The values of `apns-push-type`, and the topic, priority and size that each type requires.
enum PushType: String, CaseIterable, Sendable {
  case alert, background, complication, controls, fileprovider, liveactivity, location, pushtotalk
  case voip, widgets

  // `mdm` is omitted on purpose: its certificates and topics are those of device management.

  var topicSuffix: String {
    switch self {
    case .alert, .background: ""
    case .complication: ".complication"
    case .controls: ".push-type.controls"
    case .fileprovider: ".pushkit.fileprovider"
    case .liveactivity: ".push-type.liveactivity"
    case .location: ".location-query"
    case .pushtotalk: ".voip-ptt"
    case .voip: ".voip"
    case .widgets: ".push-type.widgets"
    }
  }

  /// True if Apple carries the type only with a provider token.
  var needsToken: Bool {
    switch self {
    case .liveactivity, .location, .widgets, .controls: true
    default: false
    }
  }

  var priorities: [String] {
    switch self {
    case .background: ["5"]
    case .liveactivity: ["5", "10"]
    default: ["10", "5", "1"]
    }
  }

  var maximumPayloadBytes: Int {
    self == .voip ? 5120 : 4096
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
        ? nil : Refusal(.badDeviceToken, "a token is 64 to 200 hex digits, an even number")
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

  static func isDeviceToken(_ text: some StringProtocol) -> Bool {
    let bytes = text.utf8
    return bytes.count % 2 == 0 && (64...200).contains(bytes.count)
      && bytes.allSatisfy(\.isHexDigit)
  }
}

/// Rules for the `apns-` headers; Apple has defaults for most, but here each is required.
enum HeaderRules {
  static let daySeconds = 86_400
  static let maximumStorageSeconds = 31 * daySeconds
  static let maximumCollapseIDBytes = 64

  static let all: [Rule] =
    [
      Rule("push type is known") { push in
        guard push.pushType == nil else { return nil }
        let found = push.header("apns-push-type") ?? "none"
        return Refusal(.invalidPushType, "apns-push-type is \(found)")
      },
      Rule("topic is there") { push in
        push.header("apns-topic") == nil ? Refusal(.missingTopic, "no apns-topic") : nil
      },
      Rule("topic has the form of a bundle ID") { push in
        isTopic(push.header("apns-topic") ?? "")
          ? nil : Refusal(.badTopic, "apns-topic is no bundle ID")
      },
      Rule("topic is known, with the push type's suffix") { push in
        let suffix = push.pushType?.topicSuffix ?? ""
        let topic = push.header("apns-topic") ?? ""
        if topic.hasSuffix(suffix), push.context.bundleIDs.contains(push.bundleID) { return nil }
        let known = push.context.bundleIDs.sorted().map { $0 + suffix }.joined(separator: ", ")
        return Refusal(.topicDisallowed, "apns-topic is \(topic), expected one of \(known)")
      },
    ] + CredentialRules.pushScope + [
      Rule("priority suits the push type") { push in
        let allowed = push.pushType?.priorities ?? []
        let found = push.header("apns-priority")
        if let found, allowed.contains(found) { return nil }
        let expected = allowed.joined(separator: " or ")
        return Refusal(.badPriority, "apns-priority is \(found ?? "missing"), expected \(expected)")
      },
      Rule("expiration is 0 or epoch seconds") { push in
        isExpiration(push.header("apns-expiration") ?? "", now: push.context.now)
          ? nil
          : Refusal(.badExpirationDate, "apns-expiration must be 0 or a time in epoch seconds")
      },
      Rule("id is a lower-case UUID") { push in
        isMessageID(push.header("apns-id") ?? "")
          ? nil : Refusal(.badMessageID, "apns-id must be a lower-case UUID")
      },
      Rule("collapse id has 1 to 64 bytes") { push in
        guard let id = push.header("apns-collapse-id") else { return nil }
        return (1...maximumCollapseIDBytes).contains(id.utf8.count)
          ? nil : Refusal(.badCollapseID, "apns-collapse-id has \(id.utf8.count) bytes")
      },
      contentType,
    ]

  static let contentType = Rule("content type is JSON") { push in
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

  /// Returns whether a text is a plausible expiration.
  ///
  /// A value more than a day in the past is a duration mistaken for a time; one beyond APNs' 30
  /// days of storage is in milliseconds.
  static func isExpiration(_ text: String, now: Int) -> Bool {
    guard let seconds = Int(text), String(seconds) == text else { return false }
    return seconds == 0 || (now - daySeconds...now + maximumStorageSeconds).contains(seconds)
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
