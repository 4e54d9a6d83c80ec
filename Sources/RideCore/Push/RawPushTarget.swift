import Base

// What the recipient of a raw push decides.
extension RawPush.Target {
  /// Creates the recipient of a push to a phone or a card, as `ridepulse.push` does for a token that
  /// no phone has: one of APNs is hexadecimal. Nil if the text is no token.
  package init?(token: String) {
    if let token = DeviceToken(token) {
      self = .device(token)
    } else if let registration = FCMRegistration(token), registration.isOfFCM,
      !token.allSatisfy(\.isHexDigit)
    {
      self = .registration(registration)
    } else {
      return nil
    }
  }

  /// The whole address, for the ledger's lookup and the derivation of an ID; never for a log.
  package var text: String {
    switch self {
    case .device(let token): token.hex
    case .registration(let registration): registration.text
    case .channel(let channel): channel.rawValue
    }
  }

  /// The end of the token, which is safe in a log; nil for a channel.
  var suffix: String? {
    switch self {
    case .device(let token): token.suffix
    case .registration(let registration): registration.suffix
    case .channel: nil
    }
  }

  /// Nil for a channel.
  var platform: Platform? {
    switch self {
    case .device: .ios
    case .registration: .android
    case .channel: nil
    }
  }

  package var isBroadcast: Bool {
    if case .channel = self { true } else { false }
  }

  /// The service that it leaves through, as a message names it.
  package var service: String {
    if case .registration = self { "FCM" } else { "APNs" }
  }

  /// How long the service stores a push at most.
  package var longestStorage: Duration {
    switch self {
    case .device: RawPush.longestStorage
    case .registration: .seconds(AndroidMessage.longestTTL)
    case .channel: ChannelStorage.longest
    }
  }

  /// The maximum number of bytes of the payload.
  func payloadLimit(_ type: PushType) -> Int {
    switch self {
    case .device: type.rules.payloadLimit
    case .registration: RawMessage.payloadLimit
    case .channel: PushRequest.broadcastLimit
    }
  }
}
