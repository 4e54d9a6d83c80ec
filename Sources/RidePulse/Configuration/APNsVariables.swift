import Foundation
import PostgresStore
import PushClient
import RideCore

/// The settings of the environment for pushes: keys, topics and endpoints of APNs, service accounts of
/// FCM, and receivers of posts.
struct APNsVariables {
  var credentials: CredentialVariables
  var bundleIDs: [App: String]
  var widgetBundleIDs: [App: String]
  var defaultEnvironment: APNsEnvironment
  var configuration: APNsConfiguration
  var fcm: FCMVariables
  var posts: PostVariables
  /// The name of the installation; nil if it has none.
  var site: String?

  /// Reads the variables described in docs/configuration.md.
  ///
  /// - Throws: `CommandFailure` that names every missing or invalid variable.
  init(_ environment: [String: String]) throws {
    posts = try PostVariables(environment)
    site = try Self.site(environment)
    fcm = try FCMVariables(environment)
    bundleIDs = Self.bundleIDs(environment)
    widgetBundleIDs = Self.widgetBundleIDs(environment)
    defaultEnvironment = try Self.defaultEnvironment(environment)
    credentials = CredentialVariables(
      environment, apps: Array(bundleIDs.keys), standard: defaultEnvironment,
      isOptional: !fcm.isEmpty)
    var problems = credentials.problems
    if bundleIDs.isEmpty, fcm.isEmpty {
      problems.append(
        "not set in the environment: APNS_CUSTOMER_BUNDLE_ID or APNS_DRIVER_BUNDLE_ID")
    }
    if !problems.isEmpty { throw CommandFailure(problems.joined(separator: "; ")) }
    configuration = try Self.configuration(environment)
    fcm.apply(to: &configuration)
  }

  /// Returns the same settings by the apps' own names.
  func spelled(as apps: [App]) -> APNsVariables {
    var variables = self
    variables.bundleIDs = ServiceVariables.spelled(bundleIDs, as: apps)
    variables.widgetBundleIDs = ServiceVariables.spelled(widgetBundleIDs, as: apps)
    variables.fcm = fcm.spelled(as: apps)
    return variables
  }

  /// The apps that the service sends for.
  var apps: [App] { Array(Set(bundleIDs.keys).union(fcm.apps)) }

  /// Reads the files of all keys, certificates and service accounts.
  func loadCredentials() throws(CommandFailure) -> Credentials {
    let apns = try credentials.load(bundleIDs: bundleIDs)
    return apns.with(try fcm.load(), bundleIDs)
  }

  /// The bundle ID and environment of each app's channels.
  var channelScopes: [App: ChannelScope] {
    bundleIDs.mapValues { ChannelScope(bundleID: $0, environment: defaultEnvironment) }
  }

  /// Returns the apps as the database's pin must name them.
  func pin(_ credentials: Credentials) -> DatabasePin {
    Self.pin(bundleIDs, defaultEnvironment, projects: fcm.projects(in: credentials), site: site)
  }

  static func pin(
    _ bundleIDs: [App: String], _ environment: APNsEnvironment, projects: [App: String],
    site: String?
  ) -> DatabasePin {
    DatabasePin(
      apps: bundleIDs.map { .init(app: $0, bundleID: $1, environment: environment) },
      projects: projects, site: site)
  }

  /// Returns the engine's configuration for these rules.
  func configuration(of rules: RuleSet) -> EngineConfiguration {
    var engine = EngineConfiguration(
      rules: rules, bundleIDs: ServiceVariables.spelled(bundleIDs, as: rules.apps),
      widgetBundleIDs: ServiceVariables.spelled(widgetBundleIDs, as: rules.apps),
      defaultEnvironment: defaultEnvironment)
    engine.receivers = PostReceivers(posts.variables)
    engine.androidApps = Set(fcm.spelled(as: rules.apps).apps)
    // If one environment is a simulator or a proxy and the other one is Apple's own, a push for the
    // one must not reach the other.
    let apple = APNsConfiguration()
    engine.probesEnvironment =
      (configuration.production == apple.production) == (configuration.sandbox == apple.sandbox)
    return engine
  }

  /// Returns the engine's configuration for decisions that are only shown, which need no key.
  static func configuration(
    of rules: RuleSet, _ environment: [String: String]
  ) throws -> EngineConfiguration {
    var engine = EngineConfiguration(
      rules: rules, bundleIDs: ServiceVariables.spelled(bundleIDs(environment), as: rules.apps),
      widgetBundleIDs: ServiceVariables.spelled(widgetBundleIDs(environment), as: rules.apps),
      defaultEnvironment: try defaultEnvironment(environment))
    engine.receivers = PostReceivers(PostVariables.variables(environment))
    engine.androidApps = FCMVariables.apps(environment, of: rules.apps)
    return engine
  }

  /// Returns what decides with one or two sets of rules.
  static func configuration(
    of release: RuleRelease, _ environment: [String: String]
  ) throws -> EngineConfiguration {
    var engine = try configuration(of: release.all, environment)
    engine.use(release)
    return engine
  }

  static func bundleIDName(_ app: App) -> String {
    "APNS_\(app.variableName)_BUNDLE_ID"
  }

  static func widgetBundleIDName(_ app: App) -> String {
    "APNS_\(app.variableName)_WIDGET_BUNDLE_ID"
  }

  /// Returns `APNS_<APP>_BUNDLE_ID` of every app; the variables of widgets are not apps.
  static func bundleIDs(_ environment: [String: String]) -> [App: String] {
    ServiceVariables.ofApps(environment, "APNS_", "_BUNDLE_ID") {
      $0 != "WIDGET" && !$0.hasSuffix("_WIDGET")
    }.mapValues(\.value)
  }

  /// Returns `APNS_<APP>_WIDGET_BUNDLE_ID` of every app that has one.
  static func widgetBundleIDs(_ environment: [String: String]) -> [App: String] {
    ServiceVariables.ofApps(environment, "APNS_", "_WIDGET_BUNDLE_ID").mapValues(\.value)
  }

  /// Reads `APNS_SANDBOX`: the environment of phones that name none.
  static func defaultEnvironment(_ environment: [String: String]) throws -> APNsEnvironment {
    let value = environment["APNS_SANDBOX"] ?? ""
    switch value.lowercased() {
    case "", "false", "0", "no": return .production
    case "true", "1", "yes": return .sandbox
    default: throw CommandFailure("APNS_SANDBOX is \(value); expected true or false")
    }
  }

  /// Reads `RIDEPULSE_SITE`: the name of the installation, which the pin holds.
  static func site(_ environment: [String: String]) throws(CommandFailure) -> String? {
    guard let name = environment.nonEmpty("RIDEPULSE_SITE") else { return nil }
    let isName = name.utf8.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "_"),
        UInt8(ascii: "-"):
        true
      default: false
      }
    }
    if isName, name.utf8.count <= 64 { return name }
    throw CommandFailure(
      "RIDEPULSE_SITE is \(name); expected at most 64 letters, digits, dots, hyphens and underscores"
    )
  }

  /// Reads `APNS_…_URL` and `APNS_CA_FILE`.
  ///
  /// - Throws: `CommandFailure` that names the invalid variable.
  static func configuration(_ environment: [String: String]) throws -> APNsConfiguration {
    var configuration = APNsConfiguration()
    configuration.caFile = try ServiceVariables.caFile(environment, "APNS_CA_FILE")
    func set(_ name: String, _ use: (APNsEndpoint) -> Void) throws {
      if let endpoint = try ServiceVariables.endpoint(environment, name) { use(endpoint) }
    }
    try set("APNS_PRODUCTION_URL") { configuration.production = $0 }
    try set("APNS_SANDBOX_URL") { configuration.sandbox = $0 }
    try set("APNS_PRODUCTION_CHANNELS_URL") { configuration.productionChannels = $0 }
    try set("APNS_SANDBOX_CHANNELS_URL") { configuration.sandboxChannels = $0 }
    try set("APNS_PRODUCTION_BROADCAST_URL") { configuration.productionBroadcast = $0 }
    try set("APNS_SANDBOX_BROADCAST_URL") { configuration.sandboxBroadcast = $0 }
    return configuration
  }
}
