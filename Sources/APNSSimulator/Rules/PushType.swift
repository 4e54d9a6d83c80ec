/// The values of `apns-push-type`, and the topic, priority and size that each type requires.
enum PushType: String, CaseIterable, Sendable {
  case alert, background, complication, controls, fileprovider, liveactivity, location, pushtotalk
  case voip, widgets

  // `mdm` is omitted on purpose: it needs a certificate, and this service accepts only JWTs.

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
