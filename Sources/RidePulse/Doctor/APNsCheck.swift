import APNSClient
import RideCore

enum APNsCheck {
  static func results(_ probes: APNsState) -> [CheckResult] {
    KeyCheck.results(probes.key) + bundleIDs(probes) + [settings(probes)]
      + probes.environments.flatMap { checks(probes, $0) }
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
        name,
        "\"\(bundleID)\" is not a bundle ID: expected letters, digits, - and ., without \".push-type.\"",
        export(app))
    }
  }

  private static func settings(_ probes: APNsState) -> CheckResult {
    switch probes.settings {
    case .known(let what): .ok("endpoints", what)
    case .failed(let why):
      .failure("endpoints", why, "fix that variable, or unset it")
    case .unasked: .skipped("endpoints", needs: "the environment")
    }
  }

  // MARK: One environment of APNs

  private static func checks(
    _ probes: APNsState, _ state: APNsState.EnvironmentState
  ) -> [CheckResult] {
    let connection = connection(probes, state)
    var needs = probes.missing
    if state.problem != nil { needs = [connection.name] + needs }
    let name = state.environment.rawValue
    if probes.bundleIDs.isEmpty || !needs.isEmpty {
      return [
        connection, .skipped("push \(name)", needs: needs.joined(separator: ", ")),
        ClockCheck.apns(
          state.environment, lead: nil, isDatabase: probes.usesDatabaseClock, answered: false),
      ]
    }
    let answered = state.answers.values.contains { outcome in
      switch outcome {
      case .accepted, .refused: true
      case .unsent, .unanswered: false
      }
    }
    return [connection] + apps(probes).map { push($0, probes, state) } + [
      ClockCheck.apns(
        state.environment, lead: state.lead, isDatabase: probes.usesDatabaseClock,
        answered: answered)
    ]
  }

  private static func connection(
    _ probes: APNsState, _ state: APNsState.EnvironmentState
  ) -> CheckResult {
    let name = "connection \(state.environment.rawValue)"
    guard let problem = state.problem else {
      return .ok(name, "\(state.endpoint): TLS is trusted, HTTP/2 is negotiated")
    }
    let remedy =
      switch problem.kind {
      case .unreachable:
        "allow this host and port in the firewall; test with curl -v --http2 \(ShellText.word(state.endpoint))"
      case .untrusted where probes.hasCAFile:
        "check that APNS_CA_FILE contains the CA of this endpoint, and that this machine's date is right"
      case .untrusted:
        "apt-get install ca-certificates; for a simulator or proxy export APNS_CA_FILE=ca.pem"
      case .noHTTP2:
        "let TLS connections pass unchanged; a proxy that terminates TLS must support h2"
      case .badAuthorities: "export APNS_CA_FILE with the path of a PEM file, or unset it"
      }
    return .failure(name, problem.text, remedy)
  }

  // MARK: The result of a push to a made-up token

  private static func push(
    _ app: App, _ probes: APNsState, _ state: APNsState.EnvironmentState
  ) -> CheckResult {
    let name = "push \(state.environment.rawValue) \(app)"
    let again = "run ridepulse doctor again"
    switch state.answers[app] {
    case .accepted:
      return .ok(
        name,
        "accepted, although the token is made up: not Apple's APNs, but it accepts our provider token"
      )
    case .refused(let refusal):
      return refused(name, refusal, app, probes, state)
    case .unsent(.noConnection(let why)), .unsent(.invalid(let why)):
      return .failure(name, "not sent: \(why)", again)
    case .unsent(.turnedAway(let refusal)): return refused(name, refusal, app, probes, state)
    case .unsent:
      return .failure(name, "APNs closed the connection before it processed the push", again)
    case .unanswered(.connectionLost(let why)), .unanswered(.reset(let why)):
      return .failure(name, "no answer: \(why)", again)
    case .unanswered(.timeout):
      return .failure(
        name, "no answer in time, on an open connection",
        "check proxies on the way, which may hold answers back; \(again)")
    case nil: return .failure(name, "no push could be sent", again)
    }
  }

  private static func refused(
    _ name: String, _ refusal: Refusal, _ app: App, _ probes: APNsState,
    _ state: APNsState.EnvironmentState
  ) -> CheckResult {
    let reason = refusal.reason ?? "no reason"
    let answer = "APNs answered \(refusal.status) \(reason)"
    switch APNsReason.table[reason]?.cause {
    case .deviceToken:
      return .ok(name, "\(reason) to a made-up token: key, IDs and topic are accepted")
    case .topic:
      return .failure(
        name, "\(answer): \(probes.bundleIDs[app] ?? "") is not an app of this team or key",
        "export \(APNsVariables.bundleIDName(app)) with the app's own bundle ID, or use a key for that topic"
      )
    case .key:
      return .failure(
        name, "\(answer): key file, APNS_KEY_ID and APNS_TEAM_ID do not belong together",
        "copy all three from Apple's pages Keys and Membership; the file's name ends in the key's ID"
      )
    case .environment:
      return .failure(
        name, "\(answer): the key is not for \(state.environment.rawValue)",
        "create a key for both environments, or set APNS_SANDBOX to the key's own")
    case .clock:
      return .failure(name, "\(answer): a clock is wrong", "timedatectl set-ntp true")
    case .other, nil: break
    }
    if refusal.status == 429 || refusal.status >= 500 {
      return .warning(
        name, "\(answer): APNs or a proxy is busy", "run ridepulse doctor later")
    }
    return .failure(
      name, answer, "see Apple's \"Handling notification responses from APNs\" for \(reason)")
  }

  private static func apps(_ probes: APNsState) -> [App] {
    probes.bundleIDs.keys.sorted { $0.rawValue < $1.rawValue }
  }

  /// Returns the command that sets an app's bundle ID.
  static func export(_ app: App) -> String {
    "export " + ShellText.word("\(APNsVariables.bundleIDName(app))=com.example.\(app)")
  }

}
