import Base

/// What a push leaves through: one of the environments of APNs, or FCM.
package enum PushNetwork: String, StoredAsRaw, CaseIterable, Hashable, Sendable {
  case production
  case sandbox

  /// Firebase Cloud Messaging, which has no environments.
  case android

  package init(_ environment: APNsEnvironment) {
    switch environment {
    case .production: self = .production
    case .sandbox: self = .sandbox
    }
  }

  /// The environment of APNs; nil for FCM.
  package var apns: APNsEnvironment? {
    switch self {
    case .production: .production
    case .sandbox: .sandbox
    case .android: nil
    }
  }

  /// The service's name, for messages.
  package var service: String { self == .android ? "FCM" : "APNs" }
}
