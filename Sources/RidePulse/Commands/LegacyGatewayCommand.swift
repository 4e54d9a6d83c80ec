import Foundation
import LegacyGateway
import PostgresStore
import RideCore

/// `ridepulse legacy-gateway`: serves the old binary protocol, for senders that support no other.
enum LegacyGatewayCommand: Command {
  static let form = CommandForm(
    name: "legacy-gateway", summary: "take pushes in APNs' old binary protocol, for old senders",
    options: [
      .init(name: "--app", value: "APP", help: "the app whose senders connect: customer"),
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
        help: "CA of senders' certificates, PEM; without it senders need none"),
    ],
    notes: [
      "It commits to the database; `ridepulse serve` sends. A sender's certificate names the app's",
      "bundle ID (APNS_<APP>_BUNDLE_ID) as UID, or as CN. docs/legacy-gateway.md says what error",
      "packets mean and what is not promised. SIGTERM: commits what was read, tells senders how far",
      "they came, and exits.",
    ])

  static func run(_ context: CommandContext) async throws -> ExitStatus {
    let log = context.log.log
    let options = try GatewayOptions(context.arguments, context.environment, form)
    let session = try await Database.session(
      Database.conninfo(context.environment), name: "legacy-gateway",
      onEvent: { SessionLog.record($0, of: "legacy-gateway", log) })
    let result: Result<Void, any Error>
    do {
      try await Database.requireSchema(session)
      try await serve(options, session, log)
      result = .success(())
    } catch {
      result = .failure(error)
    }
    await session.close()
    try result.get()
    log(.info, "Stopped")
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
      log(.info, "Stopping: no new connections", ["signal": signal])
      gateway.stop()
    }
    defer { signals.cancel() }
    if case .selfSigned(let name) = options.settings.identity {
      log(
        .warning, "Self-signed certificate: senders must be configured to trust it",
        ["name": name, "sha256": gateway.fingerprint])
    }
    if options.settings.clientCA == nil {
      log(.warning, "No --client-ca: any client that reaches this address may push")
    }
    log(
      .info, "Serving legacy senders",
      [
        "app": options.settings.app.rawValue, "address": options.settings.address,
        "port": "\(gateway.port)", "feedback": "\(gateway.feedbackPort)",
      ])
    await gateway.run()
  }
}

/// Logs the events of the gateway.
enum GatewayLog {
  static func record(_ event: GatewayEvent, _ log: Log) {
    switch event {
    case .turnedAway(let peer, let reason):
      log(.warning, "Sender refused", ["peer": peer, "reason": reason])
    case .senderEnded(let peer, let pushes, let repeats, let how):
      log(
        .info, "Sender disconnected",
        ["peer": peer, "pushes": "\(pushes)", "repeats": "\(repeats)", "how": how])
    case .feedbackRead(let peer, let phones):
      log(.info, "Disabled phones reported", ["peer": peer, "phones": "\(phones)"])
    case .lost(let peer, let pushes):
      log(
        .error, "Pushes lost: the sender disconnected and they could not be committed",
        ["peer": peer, "pushes": "\(pushes)"])
    case .failed(let reason):
      log(.error, "Gateway failed, retrying", ["reason": reason])
    case .handshakesEvicted(let count):
      log(
        .warning, "Unfinished handshakes closed: too many", ["connections": "\(count)"])
    case .full(let limit):
      log(.warning, "Sender limit reached; further senders wait", ["places": "\(limit)"])
    }
  }
}

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
