/// All that a decision goes by besides the ride itself and the time.
package struct EngineConfiguration: Sendable {
  /// The rules.
  package var rules: RuleSet
  /// The bundle ID of each app: the base of its topics.
  package var bundleIDs: [App: String]
  /// Bundle IDs that take the place of an app's in the topic of its cards; Apple wants none.
  package var widgetBundleIDs: [App: String]
  /// The environment of phones that state none.
  package var defaultEnvironment: APNsEnvironment
  /// Whether a phone that states none, and that APNs does not know, is tried once in the other
  /// environment.
  package var probesEnvironment = false

  /// Rules, and where their pushes go.
  package init(
    rules: RuleSet, bundleIDs: [App: String], widgetBundleIDs: [App: String] = [:],
    defaultEnvironment: APNsEnvironment = .production
  ) {
    self.rules = rules
    self.bundleIDs = bundleIDs
    self.widgetBundleIDs = widgetBundleIDs
    self.defaultEnvironment = defaultEnvironment
  }

  /// `apns-topic` of a push of some type to an app; nil where no bundle ID is known.
  func topic(of app: App, _ pushType: PushType) -> String? {
    switch pushType {
    case .alert, .background: bundleIDs[app]
    case .liveactivity:
      (widgetBundleIDs[app] ?? bundleIDs[app]).map { $0 + ".push-type.liveactivity" }
    }
  }
}
