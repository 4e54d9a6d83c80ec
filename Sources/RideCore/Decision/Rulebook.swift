/// All that a decision goes by besides the ride itself and the time.
public struct Rulebook: Sendable {
  /// The rules.
  public var rules: RuleSet
  /// The bundle ID of each app: the base of its topics.
  public var bundleIDs: [App: String]
  /// The environment of phones that state none.
  public var defaultEnvironment: APNsEnvironment

  /// Rules, and where their pushes go.
  public init(
    rules: RuleSet, bundleIDs: [App: String], defaultEnvironment: APNsEnvironment = .production
  ) {
    self.rules = rules
    self.bundleIDs = bundleIDs
    self.defaultEnvironment = defaultEnvironment
  }
}
