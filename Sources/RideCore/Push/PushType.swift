import Base

/// The kind of a push: the value of `apns-push-type`.
package enum PushType: String, StoredAsRaw, CaseIterable, Hashable, Sendable {
  /// A visible notification.
  case alert

  /// A silent wake-up; Apple accepts it at priority 5 only.
  case background

  /// A start, update or end of a Live Activity.
  case liveactivity

  /// An incoming call.
  case voip

  /// A request for the phone's location.
  case location

  /// New data for a complication of a watch.
  case complication

  /// A change for a file provider extension.
  case fileprovider

  /// A request to contact the server of mobile device management.
  case mdm

  /// A Push to Talk session.
  case pushtotalk

  /// A reload of the app's widgets.
  case widgets

  /// A reload of one of the app's controls.
  case controls
}

/// Apple's rules for the pushes of one type.
package struct PushTypeRules: Sendable {
  /// What follows the app's bundle ID in `apns-topic`.
  package let topicSuffix: String
  /// The accepted values of `apns-priority`, the default first.
  package let priorities: [PushPriority]
  /// The maximum number of bytes that APNs accepts in the body.
  package let payloadLimit: Int

  fileprivate init(
    _ topicSuffix: String, _ priorities: [PushPriority] = [.immediate, .powerAware, .unobtrusive],
    payloadLimit: Int = PushRequest.payloadLimit
  ) {
    self.topicSuffix = topicSuffix
    self.priorities = priorities
    self.payloadLimit = payloadLimit
  }

  /// The priority of a push that states none.
  package var defaultPriority: PushPriority { priorities.first ?? .immediate }
}

extension PushType {
  /// Whether APNs stores a push that states no expiration: a call or a talk of yesterday is none.
  package var isStoredByDefault: Bool { self != .voip && self != .pushtotalk }

  /// The only table of Apple's rules for push types.
  package var rules: PushTypeRules {
    switch self {
    case .alert: PushTypeRules("")
    case .background: PushTypeRules("", [.powerAware])
    case .liveactivity: PushTypeRules(".push-type.liveactivity", [.immediate, .powerAware])
    case .voip: PushTypeRules(".voip", payloadLimit: 5120)
    case .location: PushTypeRules(".location-query")
    case .complication: PushTypeRules(".complication")
    case .fileprovider: PushTypeRules(".pushkit.fileprovider")
    // The topic is the one of the certificate, which takes the place of the bundle ID.
    case .mdm: PushTypeRules("")
    case .pushtotalk: PushTypeRules(".voip-ptt")
    case .widgets: PushTypeRules(".push-type.widgets")
    case .controls: PushTypeRules(".push-type.controls")
    }
  }
}
