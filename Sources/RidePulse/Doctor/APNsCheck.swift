import PushClient
import RideCore

enum APNsCheck {
  static func results(_ probes: APNsState) -> [CheckResult] {
    CredentialCheck.results(probes.credentials) + bundleIDs(probes) + [settings(probes)]
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
    let answered = state.answers.values.contains { answer in
      switch answer.outcome {
      case .accepted, .refused: true
      case .unsent, .unanswered: false
      }
    }
    let pushes = apps(probes).flatMap { app in
      probes.pushTypes(of: app, state.environment).map { type in
        push(APNsState.PushProbe(app: app, pushType: type), state, probes.credentials)
      }
    }
    return [connection] + pushes + [
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
    let remedy = ConnectivityRemedy.text(
      problem.kind, endpoint: state.endpoint, caVariable: "APNS_CA_FILE",
      hasCAFile: probes.hasCAFile)
    return .failure(name, problem.text, remedy)
  }

  // MARK: The result of a push to a made-up token

  /// What to do if an app has nothing to present: the failed checks of its files say more.
  private static func credentialRemedy(_ credentials: CredentialState, _ app: App) -> String {
    let failed = CredentialCheck.results(credentials).filter { $0.standing == .failure }
    if failed.isEmpty {
      return "set APNS_PRIVATE_KEY_PATH, or APNS_\(app.variableName)_PRIVATE_KEY_PATH"
    }
    return "fix what failed above: \(failed.map(\.name).joined(separator: ", "))"
  }

  private static func push(
    _ probe: APNsState.PushProbe, _ state: APNsState.EnvironmentState,
    _ credentials: CredentialState
  ) -> CheckResult {
    let type = probe.pushType == .background ? "" : " \(probe.pushType.rawValue)"
    let name = "push \(state.environment.rawValue) \(probe.app)\(type)"
    let again = "run ridepulse doctor again"
    guard let answer = state.answers[probe] else {
      return .failure(
        name, "no push could be sent: the app has no usable key or certificate",
        "\(credentialRemedy(credentials, probe.app)); \(again)")
    }
    switch answer.outcome {
    case .accepted:
      return .ok(
        name,
        "accepted, although the token is made up: not Apple's APNs, but it accepts "
          + "\(answer.credential)"
      )
    case .refused(let refusal), .unsent(.turnedAway(let refusal)):
      return refused(name, refusal, probe.app, answer.credential)
    case .unsent(.certificateRefused(let why)):
      let explanation = APNsReason.table["BadCertificate"]?.explanation
      return .failure(
        name,
        "APNs refused \(answer.credential) in the TLS handshake: \(explanation?.meaning ?? "") (\(why))",
        explanation?.advice(variable: probe.app.variableName) ?? "")
    case .unsent(.noConnection(let why)), .unsent(.invalid(let why)):
      return .failure(name, "not sent: \(why)", again)
    case .unsent:
      return .failure(name, "APNs closed the connection before it processed the push", again)
    case .unanswered(.connectionLost(let why)), .unanswered(.reset(let why)):
      return .failure(name, "no answer: \(why)", again)
    case .unanswered(.timeout):
      return .failure(
        name, "no answer in time, on an open connection",
        "check proxies on the way, which may hold answers back; \(again)")
    }
  }

  private static func refused(
    _ name: String, _ refusal: Refusal, _ app: App, _ credential: String
  ) -> CheckResult {
    let reason = refusal.reason ?? "no reason"
    let answer = "APNs answered \(refusal.status) \(reason)"
    let known = APNsReason.table[reason]
    switch known?.cause {
    case .deviceToken:
      return .ok(name, "\(reason) to a made-up token: \(credential) and topic are accepted")
    case .topic, .key, .environment:
      let explanation = known?.explanation
      return .failure(
        name, "\(answer) to \(credential): \(explanation?.meaning ?? "")",
        explanation?.advice(variable: app.variableName) ?? "")
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
