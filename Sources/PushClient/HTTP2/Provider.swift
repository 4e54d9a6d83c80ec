import RideCore

/// The service that the server of a pool belongs to.
///
/// Consulted for each connection, turn and answer, and for each push only by `HeaderBlock`.
enum Provider: Hashable {
  case apns
  case fcm

  /// The name in messages to a person.
  var name: String {
    switch self {
    case .apns: "APNs"
    case .fcm: "FCM"
    }
  }

  /// Returns whether an answer finds fault with the token that was presented.
  func refusesToken(_ refusal: Refusal) -> Bool {
    switch self {
    case .apns: refusal.rule.providerToken == .renewed
    case .fcm: refusal.reason == "UNAUTHENTICATED"
    }
  }
}

extension PushNetwork {
  /// The service that takes the network's pushes.
  var provider: Provider { apns == nil ? .fcm : .apns }
}
