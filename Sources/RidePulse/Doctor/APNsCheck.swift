import APNSClient
import RideCore

/// Judges the results of the APNs probe.
enum APNsCheck {
  static func findings(_ probes: APNsState) -> [CheckResult] {
    KeyCheck.findings(probes.key) + bundleIDs(probes) + [settings(probes)]
      + probes.worlds.flatMap { world(probes, $0) }
  }

  private static func bundleIDs(_ probes: APNsState) -> [CheckResult] {
    if probes.bundleIDs.isEmpty {
      return [
        .failure(
          "bundle IDs", "none is set",
          "export APNS_CUSTOMER_BUNDLE_ID=com.example.rider APNS_DRIVER_BUNDLE_ID=com.example.driver"
        )
      ]
    }
    return apps(probes).map { app in
      let (name, bundleID) = ("bundle ID \(app)", probes.bundleIDs[app] ?? "")
      let scope = ChannelScope(bundleID: bundleID, environment: .production)
      if scope.isPlain, !bundleID.contains(".push-type.") { return .ok(name, bundleID) }
      return .failure(
        name, "\"\(bundleID)\" is none: expected letters, digits, - and ., without \".push-type.\"",
        export(app))
    }
  }

  private static func settings(_ probes: APNsState) -> CheckResult {
    switch probes.settings {
    case .known(let what): .ok("endpoints", what)
    case .failed(let why):
      .failure("endpoints", why, "mend that variable, or unset it")
    case .unasked: .skipped("endpoints", needs: "the environment")
    }
  }

  // MARK: One environment of APNs

  private static func world(_ probes: APNsState, _ world: APNsState.World) -> [CheckResult] {
    let connection = connection(probes, world)
    var needs = probes.missing
    if world.problem != nil { needs = [connection.name] + needs }
    let name = world.environment.rawValue
    if probes.bundleIDs.isEmpty || !needs.isEmpty {
      return [
        connection, .skipped("push \(name)", needs: needs.joined(separator: ", ")),
        ClockCheck.apns(
          world.environment, lead: nil, isDatabase: probes.goesByDatabase, answered: false),
      ]
    }
    let answered = world.answers.values.contains { outcome in
      switch outcome {
      case .accepted, .refused: true
      case .unsent, .unanswered: false
      }
    }
    return [connection] + apps(probes).map { push($0, probes, world) } + [
      ClockCheck.apns(
        world.environment, lead: world.lead, isDatabase: probes.goesByDatabase, answered: answered)
    ]
  }

  private static func connection(_ probes: APNsState, _ world: APNsState.World) -> CheckResult {
    let name = "connection \(world.environment.rawValue)"
    guard let problem = world.problem else {
      return .ok(name, "\(world.endpoint): TLS is trusted, HTTP/2 agreed on")
    }
    let mend =
      switch problem.kind {
      case .unreachable:
        "let port and name pass the firewall; curl -v --http2 \(ShellText.word(world.endpoint)) tries them"
      case .untrusted where probes.hasCAFile:
        "see that APNS_CA_FILE holds the authority of this endpoint, and that date is right here"
      case .untrusted:
        "apt-get install ca-certificates; for a simulator or proxy export APNS_CA_FILE=ca.pem"
      case .noHTTP2:
        "let the TLS connection pass unbroken; a proxy that opens it must speak h2"
      case .badAuthorities: "export APNS_CA_FILE with the path of a PEM file, or unset it"
      }
    return .failure(name, problem.text, mend)
  }

  // MARK: The result of a push to a made-up token

  private static func push(_ app: App, _ probes: APNsState, _ world: APNsState.World) -> CheckResult
  {
    let name = "push \(world.environment.rawValue) \(app)"
    let again = "ridepulse doctor, once more"
    switch world.answers[app] {
    case .accepted:
      return .ok(
        name, "accepted, made-up token and all: no APNs of Apple's, but it takes our token")
    case .refused(let refusal):
      return refused(name, refusal, app, probes, world)
    case .unsent(.noConnection(let why)), .unsent(.invalid(let why)):
      return .failure(name, "not sent: \(why)", again)
    case .unsent(.turnedAway(let refusal)): return refused(name, refusal, app, probes, world)
    case .unsent: return .failure(name, "APNs closed the connection before it looked", again)
    case .unanswered(.connectionLost(let why)), .unanswered(.reset(let why)):
      return .failure(name, "no answer: \(why)", again)
    case .unanswered(.timeout):
      return .failure(
        name, "no answer in time, on a connection that stands",
        "see what lies between: a proxy may hold answers back; \(again)")
    case nil: return .failure(name, "no push could be sent", again)
    }
  }

  private static func refused(
    _ name: String, _ refusal: Refusal, _ app: App, _ probes: APNsState, _ world: APNsState.World
  ) -> CheckResult {
    let reason = refusal.reason ?? "no reason"
    let said = "APNs answered \(refusal.status) \(reason)"
    switch APNsReason.table[reason]?.cause {
    case .deviceToken:
      return .ok(name, "\(reason) to a made-up token: key, IDs and topic are taken")
    case .topic:
      return .failure(
        name, "\(said): \(probes.bundleIDs[app] ?? "") is not an app of this team or key",
        "export \(variable(app)) with the app's own bundle ID, or let the key be for that topic")
    case .key:
      return .failure(
        name, "\(said): key file, APNS_KEY_ID and APNS_TEAM_ID do not belong together",
        "take all three from Apple's pages Keys and Membership; the file's name ends in the key's ID"
      )
    case .environment:
      return .failure(
        name, "\(said): the key is not for \(world.environment.rawValue)",
        "make a key for both environments, or set APNS_SANDBOX to the key's own")
    case .clock:
      return .failure(name, "\(said): a clock is wrong", "timedatectl set-ntp true")
    case .other, nil: break
    }
    if refusal.status == 429 || refusal.status >= 500 {
      return .warning(
        name, "\(said): it is busy, or somebody between is", "ridepulse doctor, later")
    }
    return .failure(
      name, said, "see Apple's \"Handling notification responses from APNs\" for \(reason)")
  }

  private static func apps(_ probes: APNsState) -> [App] {
    probes.bundleIDs.keys.sorted { $0.rawValue < $1.rawValue }
  }

  /// Returns the command that sets an app's bundle ID.
  static func export(_ app: App) -> String {
    "export " + ShellText.word("\(variable(app))=com.example.\(app)")
  }

  static func variable(_ app: App) -> String { "APNS_\(app.rawValue.uppercased())_BUNDLE_ID" }
}
