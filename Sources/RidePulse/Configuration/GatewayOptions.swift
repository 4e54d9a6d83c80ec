import Foundation
import LegacyGateway
import RideCore

/// The options of `legacy-gateway` from its command line and the environment.
struct GatewayOptions {
  var settings: GatewaySettings
  /// The environment of new phones; nil if the option is missing.
  var environment: APNsEnvironment?

  /// Reads and validates the options.
  ///
  /// - Throws: `UsageError` or `CommandFailure` for an invalid value.
  init(_ arguments: Arguments, _ environment: [String: String], _ form: CommandForm) throws {
    guard let app = arguments.value("--app") else {
      throw UsageError("--app APP is missing", form: form)
    }
    let bundleIDs = APNsVariables.bundleIDs(environment)
    guard let bundleID = bundleIDs[App(rawValue: app)] else {
      throw CommandFailure(
        "no bundle ID for \(app): set APNS_\(app.uppercased())_BUNDLE_ID")
    }
    settings = GatewaySettings(
      app: App(rawValue: app), bundleID: bundleID, identity: try Self.identity(arguments, form))
    settings.port = try Self.port("--port", arguments, form) ?? settings.port
    settings.feedbackPort =
      try Self.port("--feedback-port", arguments, form) ?? settings.feedbackPort
    settings.clientCA = arguments.value("--client-ca")
    settings.address = try Self.address(arguments, form)
    self.environment = try Self.environment(arguments, form)
  }

  private static func identity(
    _ arguments: Arguments, _ form: CommandForm
  ) throws(UsageError) -> ServerIdentity {
    switch (arguments.value("--certificate"), arguments.value("--key")) {
    case (let certificate?, let key?): return .files(certificate: certificate, key: key)
    case (nil, nil): return .selfSigned(name: "ridepulse-legacy-gateway")
    case (_?, nil): throw UsageError("--certificate needs --key", form: form)
    case (nil, _?): throw UsageError("--key needs --certificate", form: form)
    }
  }

  private static func port(
    _ name: String, _ arguments: Arguments, _ form: CommandForm
  ) throws(UsageError) -> UInt16? {
    guard let text = arguments.value(name) else { return nil }
    if let port = UInt16(text) { return port }
    throw UsageError("\(name) \(text) is not a port; expected 0 to 65535", form: form)
  }

  private static func address(
    _ arguments: Arguments, _ form: CommandForm
  ) throws(UsageError) -> String {
    guard let address = arguments.value("--bind") else {
      return arguments.has("--client-ca") ? "0.0.0.0" : "127.0.0.1"
    }
    if arguments.has("--client-ca") || ["127.0.0.1", "::1"].contains(address) { return address }
    throw UsageError(
      "--bind \(address) needs --client-ca: without it whoever reaches the port could push",
      form: form)
  }

  private static func environment(
    _ arguments: Arguments, _ form: CommandForm
  ) throws(UsageError) -> APNsEnvironment? {
    guard let word = arguments.value("--environment") else { return nil }
    return try form.choice(word, "environment", of: APNsEnvironment.self)
  }
}
