/// The recipient of a push or a post.
package enum PushAddress: Hashable, Sendable, CustomStringConvertible {
  /// One phone, or one card on it.
  case device(DeviceToken)
  /// One Android phone.
  case registration(FCMRegistration)
  /// All subscribers of an app's broadcast channel.
  case channel(BroadcastChannel)
  /// A receiver of the service: one HTTP POST.
  case post(PostAddress)

  /// The maximum number of bytes in the body: that of APNs, or a bound above all that FCM accepts.
  ///
  /// FCM counts keys and values of a message, not its bytes.
  package var payloadLimit: Int {
    switch self {
    case .device: PushRequest.payloadLimit
    case .registration: PushRequest.messageLimit
    case .channel: PushRequest.broadcastLimit
    case .post: PostAddress.payloadLimit
    }
  }

  /// The whole address, for the request and for comparison; never for a log.
  package var text: String {
    switch self {
    case .device(let token): token.hex
    case .registration(let registration): registration.text
    case .channel(let channel): channel.id.rawValue
    case .post(let post): post.lane
    }
  }

  /// The request's path up to the part that `pathEnd` completes.
  package var pathPrefix: String {
    switch self {
    case .device: "/3/device/"
    case .registration: "/v1/projects/"
    case .channel: "/4/broadcasts/apps/"
    case .post(let post): post.urlVariable
    }
  }

  /// The rest of the path: the token, or the bundle ID of the channel's app.
  package var pathEnd: String {
    switch self {
    case .device(let token): token.hex
    case .channel(let channel): channel.bundleID
    case .registration, .post: ""
    }
  }

  /// The path in a form that is safe to print: a token is shortened.
  package var shownPath: String {
    switch self {
    case .device(let token): "\(pathPrefix)\(token)"
    case .registration(let registration): "\(pathPrefix)\(registration)"
    case .channel, .post: pathPrefix + pathEnd
    }
  }

  /// The address in a form that is safe in a log.
  package var description: String {
    switch self {
    case .device(let token): "\(token)"
    case .registration(let registration): "\(registration)"
    case .channel(let channel): "channel \(channel.id)"
    case .post(let post): "receiver \(post.receiver)"
    }
  }
}
