/// Everything that a decision depends on besides the ride itself and the time.
package struct EngineConfiguration: Sendable {
  package var rules: RuleSet { didSet { countPermits() } }
  /// The bundle ID of each app: the base of its topics.
  package var bundleIDs: [App: String]
  /// Bundle IDs that replace an app's own in the topic of its cards; Apple requires the app's own.
  package var widgetBundleIDs: [App: String]
  /// The apps with a service account of FCM: nothing is sent to Android phones of others. Their cards
  /// run before a ride has an Android phone, for one that registers later.
  package var androidApps: Set<App> = []
  /// The receivers of posts that have a URL and a secret.
  package var receivers = PostReceivers()
  /// The environment of phones whose row names none.
  package var defaultEnvironment: APNsEnvironment
  /// Whether a phone whose row names no environment is tried once in the other one after
  /// `BadDeviceToken`.
  package var probesEnvironment = false
  /// The pauses of rules, events and apps.
  package var pauses = Pauses()
  /// The rules and the program version, for the ledger; nil if nothing is recorded.
  package var revision: Revision?
  /// The rules that decide a share of the rides; nil if `rules` decide all.
  package var trial: RuleTrial? { didSet { countPermits() } }
  /// Those of all rules, whichever of them decide a ride: a cap belongs to the person.
  private(set) var permitWindows: PermitWindows

  package init(
    rules: RuleSet, bundleIDs: [App: String], widgetBundleIDs: [App: String] = [:],
    defaultEnvironment: APNsEnvironment = .production
  ) {
    self.rules = rules
    permitWindows = rules.permitWindows
    self.bundleIDs = bundleIDs
    self.widgetBundleIDs = widgetBundleIDs
    self.defaultEnvironment = defaultEnvironment
  }

  /// The rules that name what is read for rides, and when they are due.
  package var allRules: RuleSet {
    trial.map { rules.joined(with: $0.rules, for: $0.share) } ?? rules
  }

  /// Returns the configuration that decides a ride: of rides that the trial decides, the same but
  /// for the rules.
  package func deciding(_ ride: RideID) -> EngineConfiguration {
    guard let trial, trial.decides(ride) else { return self }
    var other = self
    (other.rules, other.revision, other.trial) = (trial.rules, trial.revision, nil)
    other.permitWindows = permitWindows
    return other
  }

  private mutating func countPermits() {
    let other = trial?.rules.permitWindows
    permitWindows = other.map { rules.permitWindows.joined(with: $0) } ?? rules.permitWindows
  }

  /// Gives each app of the rules that has no bundle ID a placeholder, and each receiver of posts: a
  /// replay sends nothing.
  package mutating func fillBundleIDs() {
    receivers = .all
    androidApps = Set(rules.apps)
    for app in rules.apps where bundleIDs[app] == nil { bundleIDs[app] = "unset.\(app)" }
  }

  /// What the service's pushes leave through, without the environment of APNs that only some phones
  /// name.
  package var networks: Set<PushNetwork> {
    var networks: Set<PushNetwork> = bundleIDs.isEmpty ? [] : [PushNetwork(defaultEnvironment)]
    if !androidApps.isEmpty { networks.insert(.android) }
    return networks
  }

  /// Returns the `apns-topic` of a push type for an app; nil if the app has no bundle ID.
  func topic(of app: App, _ pushType: PushType) -> String? {
    let widget = pushType == .liveactivity ? widgetBundleIDs[app] : nil
    return (widget ?? bundleIDs[app]).map { $0 + pushType.rules.topicSuffix }
  }
}
