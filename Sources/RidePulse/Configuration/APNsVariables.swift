import APNSClient
import Foundation
import RideCore
import SystemSupport

/// The APNs settings of the environment: keys, topics and endpoints.
struct APNsVariables {
  var keyID: String
  var teamID: String
  var privateKeyPath: String
  var bundleIDs: [App: String]
  var widgetBundleIDs: [App: String]
  var defaultEnvironment: APNsEnvironment
  var configuration: APNsConfiguration

  /// Reads the variables described in docs/configuration.md.
  ///
  /// - Throws: `CommandFailure` that names every missing or invalid variable.
  init(_ environment: [String: String]) throws {
    var missing: [String] = []
    func required(_ name: String) -> String {
      if let value = environment[name], !value.isEmpty { return value }
      missing.append(name)
      return ""
    }
    keyID = required("APNS_KEY_ID")
    teamID = required("APNS_TEAM_ID")
    privateKeyPath = required("APNS_PRIVATE_KEY_PATH")
    bundleIDs = Self.bundleIDs(environment)
    widgetBundleIDs = Self.widgetBundleIDs(environment)
    if bundleIDs.isEmpty { missing.append("APNS_CUSTOMER_BUNDLE_ID or APNS_DRIVER_BUNDLE_ID") }
    if !missing.isEmpty {
      throw CommandFailure("not set in the environment: " + missing.joined(separator: ", "))
    }
    defaultEnvironment = try Self.defaultEnvironment(environment)
    configuration = try Self.configuration(environment)
  }

  /// Reads the key file again.
  func signingKey() throws(SigningKeyError) -> SigningKey {
    try SigningKey(path: privateKeyPath, keyID: keyID, teamID: teamID)
  }

  /// The bundle ID and environment of each app's channels.
  var channelScopes: [App: ChannelScope] {
    bundleIDs.mapValues { ChannelScope(bundleID: $0, environment: defaultEnvironment) }
  }

  /// Returns the engine's configuration for these rules.
  func configuration(of rules: RuleSet) -> EngineConfiguration {
    var engine = EngineConfiguration(
      rules: rules, bundleIDs: bundleIDs, widgetBundleIDs: widgetBundleIDs,
      defaultEnvironment: defaultEnvironment)
    // If one environment is a simulator or a proxy and the other one is Apple's own, a push for the
    // one must not reach the other.
    let apple = APNsConfiguration()
    engine.probesEnvironment =
      (configuration.production == apple.production) == (configuration.sandbox == apple.sandbox)
    return engine
  }

  /// Returns `APNS_<APP>_BUNDLE_ID` of every app; the variables of widgets are not apps.
  static func bundleIDs(_ environment: [String: String]) -> [App: String] {
    var bundleIDs: [App: String] = [:]
    for (name, value) in environment where !value.isEmpty {
      guard name.hasPrefix("APNS_"), name.hasSuffix("_BUNDLE_ID") else { continue }
      let app = name.dropFirst("APNS_".count).dropLast("_BUNDLE_ID".count)
      if app.isEmpty || app == "WIDGET" || app.hasSuffix("_WIDGET") { continue }
      bundleIDs[App(rawValue: app.lowercased())] = value
    }
    return bundleIDs
  }

  /// Returns `APNS_<APP>_WIDGET_BUNDLE_ID` of every app that has one.
  static func widgetBundleIDs(_ environment: [String: String]) -> [App: String] {
    var bundleIDs: [App: String] = [:]
    for (name, value) in environment where !value.isEmpty {
      guard name.hasPrefix("APNS_"), name.hasSuffix("_WIDGET_BUNDLE_ID") else { continue }
      let app = name.dropFirst("APNS_".count).dropLast("_WIDGET_BUNDLE_ID".count)
      if !app.isEmpty { bundleIDs[App(rawValue: app.lowercased())] = value }
    }
    return bundleIDs
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
    if let path = environment["APNS_CA_FILE"], !path.isEmpty {
      do throws(RegularFile.Failure) {
        _ = try RegularFile.read(path, limit: RegularFile.pemLimit)
      } catch {
        throw CommandFailure("APNS_CA_FILE: can't read \(path): \(error)")
      }
      configuration.caFile = path
    }
    func take(_ name: String, _ use: (APNsEndpoint) -> Void) throws {
      if let endpoint = try endpoint(environment, name) { use(endpoint) }
    }
    try take("APNS_PRODUCTION_URL") { configuration.production = $0 }
    try take("APNS_SANDBOX_URL") { configuration.sandbox = $0 }
    try take("APNS_PRODUCTION_CHANNELS_URL") { configuration.productionChannels = $0 }
    try take("APNS_SANDBOX_CHANNELS_URL") { configuration.sandboxChannels = $0 }
    try take("APNS_PRODUCTION_BROADCAST_URL") { configuration.productionBroadcast = $0 }
    try take("APNS_SANDBOX_BROADCAST_URL") { configuration.sandboxBroadcast = $0 }
    return configuration
  }

  private static func endpoint(
    _ environment: [String: String], _ name: String
  ) throws -> APNsEndpoint? {
    guard let url = environment[name], !url.isEmpty else { return nil }
    do {
      return try APNsEndpoint(url)
    } catch {
      throw CommandFailure("\(name): \(error)")
    }
  }
}
