import Foundation
import PostgresStore
import PushClient
import RideCore
import SystemSupport

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

  /// Reads the variables described in docs/configuration.md.
  ///
  /// - Throws: `CommandFailure` that names every missing or invalid variable.
  init(_ environment: [String: String]) throws {
    posts = try PostVariables(environment)
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
    variables.bundleIDs = Self.spelled(bundleIDs, as: apps)
    variables.widgetBundleIDs = Self.spelled(widgetBundleIDs, as: apps)
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
    Self.pin(bundleIDs, defaultEnvironment, projects: fcm.projects(in: credentials))
  }

  static func pin(
    _ bundleIDs: [App: String], _ environment: APNsEnvironment, projects: [App: String]
  ) -> DatabasePin {
    DatabasePin(
      apps: bundleIDs.map { .init(app: $0, bundleID: $1, environment: environment) },
      projects: projects)
  }

  /// Returns the engine's configuration for these rules.
  func configuration(of rules: RuleSet) -> EngineConfiguration {
    var engine = EngineConfiguration(
      rules: rules, bundleIDs: Self.spelled(bundleIDs, as: rules.apps),
      widgetBundleIDs: Self.spelled(widgetBundleIDs, as: rules.apps),
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
      rules: rules, bundleIDs: spelled(bundleIDs(environment), as: rules.apps),
      widgetBundleIDs: spelled(widgetBundleIDs(environment), as: rules.apps),
      defaultEnvironment: try defaultEnvironment(environment))
    engine.receivers = PostReceivers(PostVariables.variables(environment))
    engine.androidApps = FCMVariables.apps(environment, of: rules.apps)
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
    values(environment, "_BUNDLE_ID") { $0 != "WIDGET" && !$0.hasSuffix("_WIDGET") }
  }

  /// Returns `APNS_<APP>_WIDGET_BUNDLE_ID` of every app that has one.
  static func widgetBundleIDs(_ environment: [String: String]) -> [App: String] {
    values(environment, "_WIDGET_BUNDLE_ID") { _ in true }
  }

  /// Returns values by the apps' own names: a variable writes the `-` of `food-courier` as `_`.
  static func spelled<Value>(_ values: [App: Value], as apps: [App]) -> [App: Value] {
    var values = values
    for app in apps where values[app] == nil {
      let plain = App(rawValue: app.rawValue.replacing("-", with: "_"))
      guard let value = values[plain] else { continue }
      values[app] = value
      if !apps.contains(plain) { values[plain] = nil }
    }
    return values
  }

  /// Returns the values of the variables `APNS_<APP>…` that end in `suffix`, by app.
  private static func values(
    _ environment: [String: String], _ suffix: String, where isApp: (Substring) -> Bool
  ) -> [App: String] {
    var values: [App: String] = [:]
    for (name, value) in environment where !value.isEmpty {
      guard name.hasPrefix("APNS_"), name.hasSuffix(suffix) else { continue }
      let app = name.dropFirst("APNS_".count).dropLast(suffix.count)
      if !app.isEmpty, isApp(app) { values[App(rawValue: app.lowercased())] = value }
    }
    return values
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

  /// Reads `APNS_…_URL` and `APNS_CA_FILE`.
  ///
  /// - Throws: `CommandFailure` that names the invalid variable.
  static func configuration(_ environment: [String: String]) throws -> APNsConfiguration {
    var configuration = APNsConfiguration()
    if let path = environment.nonEmpty("APNS_CA_FILE") {
      do throws(RegularFile.Failure) {
        _ = try RegularFile.read(path, limit: RegularFile.pemLimit)
      } catch {
        throw CommandFailure("APNS_CA_FILE: can't read \(path): \(error)")
      }
      configuration.caFile = path
    }
    func set(_ name: String, _ use: (APNsEndpoint) -> Void) throws {
      if let endpoint = try endpoint(environment, name) { use(endpoint) }
    }
    try set("APNS_PRODUCTION_URL") { configuration.production = $0 }
    try set("APNS_SANDBOX_URL") { configuration.sandbox = $0 }
    try set("APNS_PRODUCTION_CHANNELS_URL") { configuration.productionChannels = $0 }
    try set("APNS_SANDBOX_CHANNELS_URL") { configuration.sandboxChannels = $0 }
    try set("APNS_PRODUCTION_BROADCAST_URL") { configuration.productionBroadcast = $0 }
    try set("APNS_SANDBOX_BROADCAST_URL") { configuration.sandboxBroadcast = $0 }
    return configuration
  }

  private static func endpoint(
    _ environment: [String: String], _ name: String
  ) throws -> APNsEndpoint? {
    guard let url = environment.nonEmpty(name) else { return nil }
    do {
      return try APNsEndpoint(url)
    } catch {
      throw CommandFailure("\(name): \(error)")
    }
  }
}

extension [String: String] {
  /// Returns the value of a variable; nil if it is not set, or empty.
  func nonEmpty(_ name: String) -> String? {
    self[name].flatMap { $0.isEmpty ? nil : $0 }
  }
}
