import Base

/// The system of a phone, which decides the service that reaches it: APNs or FCM.
package enum Platform: String, StoredAsRaw, CaseIterable, Hashable, Sendable {
  case ios
  case android

  /// The name of the service that reaches it, for messages.
  package var service: String { self == .android ? "FCM" : "APNs" }
}
