/// All that a decision goes by besides the ride itself and the time.
public struct EngineConfiguration: Sendable {
  /// The rules.
  public var rules: RuleSet
  /// The bundle ID of each app: the base of its topics.
  public var bundleIDs: [App: String]
  /// Bundle IDs that take the place of an app's in the topic of its cards; Apple wants none.
  public var widgetBundleIDs: [App: String]
  /// The environment of phones that state none.
  public var defaultEnvironment: APNsEnvironment
  /// Whether a phone that states none, and that APNs does not know, is tried once in the other
  /// environment.
  public var probesEnvironment = false

  /// Rules, and where their pushes go.
  public init(
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
