import Base

/// One of the two separate environments of APNs; every token, key and host belongs to one of them.
package enum APNsEnvironment: String, StoredAsRaw, CaseIterable, Hashable, Sendable {
  /// App Store, TestFlight and Ad Hoc builds.
  case production

  /// Builds that Xcode installed.
  case sandbox
}
