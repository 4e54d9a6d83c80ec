import Base
import Foundation
import LegacyGateway
import PostgresStore
import RideCore

/// `ridepulse legacy-gateway`: serves the old binary protocol, for senders that support no other.
enum LegacyGatewayCommand: Command {
  static let form = CommandForm(
    name: "legacy-gateway",
    summary: "accept pushes over APNs' legacy binary protocol, for old senders",
    options: [
      .init(
        name: "--app", value: "APP", isRequired: true,
        help: "the app whose senders connect, such as customer"),
      .init(name: "--port", value: "N", help: "port for pushes (2195)"),
      .init(name: "--feedback-port", value: "N", help: "port that reports disabled phones (2196)"),
      .init(
        name: "--environment", value: "NAME", choices: CommandForm.words(APNsEnvironment.self),
        help: "production or sandbox: environment of new phones (from APNS_SANDBOX)"),
      .init(
        name: "--bind", value: "ADDR",
        help: "the address to listen on (127.0.0.1; 0.0.0.0 with --client-ca)"),
      .init(name: "--certificate", value: "FILE", help: "the gateway's certificate chain, PEM"),
      .init(
        name: "--key", value: "FILE", help: "its key, PEM; without both a certificate is generated"),
      .init(
        name: "--client-ca", value: "FILE",
        help: "CA of senders' certificates, PEM; without it senders need no certificate"),
    ],
    notes: [
      "It commits to the database; `ridepulse serve` sends. A sender's certificate names the app's",
      "bundle ID (APNS_<APP>_BUNDLE_ID) as UID, or as CN. docs/legacy-gateway.md describes error",
      "packets and limits. SIGTERM: commits what was read, reports to each sender how much that is,",
      "and exits.",
    ])

  static func run(_ context: CommandContext) async throws -> ExitStatus {
    let log = context.log.log
    let options = try GatewayOptions(context.arguments, context.environment)
    let sessions = SessionLog(log, isStarting: false)
    try await Database.with(
      conninfo: Database.conninfo(context.environment), name: "legacy-gateway",
      onEvent: { sessions.record($0, of: "legacy-gateway") }
    ) { session in
      try await Database.requireSchema(session)
      try await serve(options, session, log)
    }
    log(.info, .stopped)
    return .done
  }

  private static func serve(
    _ options: GatewayOptions, _ session: PostgresSession, _ log: Log
  ) async throws {
    let store = PostgresLegacyPushStore(
      app: options.settings.app, environment: options.environment, session: session)
    let gateway: GatewayServer
    do {
      gateway = try GatewayServer(options.settings, store: store) { GatewayLog.record($0, log) }
    } catch {
      throw CommandFailure("legacy-gateway: \(error)")
    }
    let signals = ServiceSignals { signal in
      log(.info, .gatewayStopping, ["signal": signal])
      gateway.stop()
    }
    defer { signals.cancel() }
    if case .selfSigned(let name) = options.settings.identity {
      log(.warning, .certificateSelfSigned, ["name": name, "sha256": gateway.fingerprint])
    }
    if options.settings.clientCA == nil {
      log(.warning, .gatewayOpenToAll)
    }
    log(
      .info, .gatewayServing,
      [
        "app": options.settings.app.rawValue, "address": options.settings.address,
        "port": gateway.port, "feedback": gateway.feedbackPort,
      ])
    await gateway.run()
  }
}

enum GatewayLog {
  static func record(_ event: GatewayEvent, _ log: Log) {
    switch event {
    case .turnedAway(let peer, let reason):
      log(.warning, .senderRefused, ["peer": peer, "reason": reason])
    case .senderEnded(let peer, let pushes, let repeats, let how):
      log(
        .info, .senderDisconnected,
        ["peer": peer, "pushes": pushes, "repeats": repeats, "how": how])
    case .feedbackRead(let peer, let phones):
      log(.info, .disabledPhonesReported, ["peer": peer, "phones": phones])
    case .lost(let peer, let pushes):
      log(.error, .senderPushesLost, ["peer": peer, "pushes": pushes])
    case .failed(let reason):
      log(.error, .gatewayFailed, ["reason": reason])
    case .handshakesEvicted(let count):
      log(.warning, .handshakesClosed, ["connections": count])
    case .full(let limit):
      log(.warning, .senderLimitReached, ["places": limit])
    }
  }
}

/// The options of `legacy-gateway` from its command line and the environment.
struct GatewayOptions {
  var settings: GatewaySettings
  /// The environment of new phones; nil if the option is missing.
  var environment: APNsEnvironment?

  /// - Throws: `UsageError` or `CommandFailure` for an invalid value.
  init(_ arguments: Arguments, _ environment: [String: String]) throws {
    let app = App(rawValue: arguments.value("--app") ?? "")
    let bundleIDs = ServiceVariables.spelled(APNsVariables.bundleIDs(environment), as: [app])
    guard let bundleID = bundleIDs[app] else {
      throw CommandFailure("no bundle ID for \(app): set \(APNsVariables.bundleIDName(app))")
    }
    settings = GatewaySettings(
      app: app, bundleID: bundleID, identity: try Self.identity(arguments))
    settings.port = try Self.port("--port", arguments) ?? settings.port
    settings.feedbackPort = try Self.port("--feedback-port", arguments) ?? settings.feedbackPort
    settings.clientCA = arguments.value("--client-ca")
    settings.address = try Self.address(arguments)
    self.environment = arguments.choice("--environment")
  }

  private static func identity(_ arguments: Arguments) throws(UsageError) -> ServerIdentity {
    switch (arguments.value("--certificate"), arguments.value("--key")) {
    case (let certificate?, let key?): return .files(certificate: certificate, key: key)
    case (nil, nil): return .selfSigned(name: "ridepulse-legacy-gateway")
    case (_?, nil): throw arguments.error("--certificate needs --key")
    case (nil, _?): throw arguments.error("--key needs --certificate")
    }
  }

  private static func port(_ name: String, _ arguments: Arguments) throws(UsageError) -> UInt16? {
    try arguments.integer(name, in: 0...Int(UInt16.max)).map { UInt16(clamping: $0) }
  }

  private static func address(_ arguments: Arguments) throws(UsageError) -> String {
    guard let address = arguments.value("--bind") else {
      return arguments.has("--client-ca") ? "0.0.0.0" : "127.0.0.1"
    }
    if arguments.has("--client-ca") || ["127.0.0.1", "::1"].contains(address) { return address }
    throw arguments.error(
      "--bind \(address) needs --client-ca: without it any client that reaches the port could push")
  }
}
