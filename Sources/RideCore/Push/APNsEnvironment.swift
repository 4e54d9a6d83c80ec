/// One of Apple's two separate worlds; tokens, keys and hosts belong to one of them.
package enum APNsEnvironment: String, CaseIterable, Hashable, Sendable, Codable {
  /// App Store, TestFlight and Ad Hoc builds.
  case production

  /// Builds that Xcode installed.
  case sandbox
}
