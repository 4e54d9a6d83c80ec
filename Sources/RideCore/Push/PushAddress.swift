/// One of the service's apps, by the name that rules, phones and variables use, such as `customer`.
package struct App: StoredAsRaw, Hashable, Sendable, CustomStringConvertible {
  /// The name, as in `ridepulse.devices.app` and after `app:` in a rule.
  package let rawValue: String

  package init(rawValue: String) {
    self.rawValue = rawValue
  }

  /// The app whose phones belong to a ride's `customer_id`.
  package static let customer = App(rawValue: "customer")

  /// The app whose phones belong to a ride's `driver_id`.
  package static let driver = App(rawValue: "driver")

  /// Compares the bytes, because a row may hold any text.
  package static func == (left: App, right: App) -> Bool {
    left.rawValue.hasBytes(of: right.rawValue)
  }

  package func hash(into hasher: inout Hasher) { rawValue.hashBytes(into: &hasher) }

  package var description: String { rawValue }

  /// The app's name in environment variables: `FOOD_COURIER` for `food-courier`.
  package var variableName: String { rawValue.uppercased().replacing("-", with: "_") }
}

/// One of the two separate environments of APNs; every token, key and host belongs to one of them.
package enum APNsEnvironment: String, CaseIterable, Hashable, Sendable {
  /// App Store, TestFlight and Ad Hoc builds.
  case production

  /// Builds that Xcode installed.
  case sandbox
}

/// A phone's address at APNs: hexadecimal text of no fixed length.
///
/// Its `description` shows only the last six digits, so it is safe in a log.
package struct DeviceToken: Hashable, Sendable, CustomStringConvertible {
  /// The whole token in lower case, to be used only in the request's path.
  package let hex: String

  /// Nil if the text is not an even number of hexadecimal digits, or has more than 512 of them.
  package init?(_ text: String) {
    let utf8 = text.utf8
    guard utf8.count >= 2, utf8.count <= 512, utf8.count.isMultiple(of: 2) else { return nil }
    var hasUpperCase = false
    for byte in utf8 {
      switch byte {
      case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"): break
      case UInt8(ascii: "A")...UInt8(ascii: "F"): hasUpperCase = true
      default: return nil
      }
    }
    hex = hasUpperCase ? text.lowercased() : text
  }

  /// The last six digits: enough to distinguish phones, too few to send a push.
  package var suffix: String { String(hex.suffix(6)) }

  /// The last six digits after an ellipsis.
  package var description: String { "…" + suffix }
}

/// The recipient of a push.
package enum PushAddress: Hashable, Sendable, CustomStringConvertible {
  /// One phone, or one card on it.
  case device(DeviceToken)
  /// All subscribers of an app's broadcast channel.
  case channel(BroadcastChannel)

  /// The maximum number of bytes that APNs accepts in the body.
  package var payloadLimit: Int {
    switch self {
    case .device: PushRequest.payloadLimit
    case .channel: PushRequest.broadcastLimit
    }
  }

  /// The whole address, for the request and for comparison; never for a log.
  package var text: String {
    switch self {
    case .device(let token): token.hex
    case .channel(let channel): channel.id.rawValue
    }
  }

  /// The request's path up to the part that `pathEnd` completes.
  package var pathPrefix: String {
    switch self {
    case .device: "/3/device/"
    case .channel: "/4/broadcasts/apps/"
    }
  }

  /// The rest of the path: the token, or the bundle ID of the channel's app.
  package var pathEnd: String {
    switch self {
    case .device(let token): token.hex
    case .channel(let channel): channel.bundleID
    }
  }

  /// The path in a form that is safe to print: a token is shortened.
  package var shownPath: String {
    switch self {
    case .device(let token): "\(pathPrefix)\(token)"
    case .channel: pathPrefix + pathEnd
    }
  }

  /// The address in a form that is safe in a log.
  package var description: String {
    switch self {
    case .device(let token): "\(token)"
    case .channel(let channel): "channel \(channel.id)"
    }
  }
}
