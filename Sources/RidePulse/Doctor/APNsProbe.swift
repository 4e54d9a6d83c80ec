import APNSClient
import RideCore

/// Probes APNs with the same client as the service.
struct APNsProbe {
  let environment: [String: String]
  /// How far the database's clock is ahead of the local one; nil if unknown.
  let lead: Duration?

  /// A token that belongs to no phone.
  private static let token = DeviceToken(String(repeating: "0", count: 64))

  private static let payload = Array(#"{"aps":{"content-available":1}}"#.utf8)

  private var now: Timestamp { MachineTime.now + (lead ?? .zero) }

  /// - Parameter isUsed: The environments that rows of phones name.
  func probes(isUsed: Set<APNsEnvironment>) async -> APNsState {
    var probes = APNsState()
    probes.key = KeyState(environment)
    probes.bundleIDs = APNsVariables.bundleIDs(environment)
    probes.usesDatabaseClock = lead != nil
    let settings: (configuration: APNsConfiguration, standard: APNsEnvironment)
    do {
      settings = (
        try APNsVariables.configuration(environment),
        try APNsVariables.defaultEnvironment(environment)
      )
    } catch {
      probes.settings = .failed("\(error)")
      return probes
    }
    probes.settings = .known(
      "phones whose row names no environment are \(settings.standard.rawValue)")
    probes.hasCAFile = settings.configuration.caFile != nil
    let others = APNsEnvironment.allCases.filter { $0 != settings.standard && isUsed.contains($0) }
    for environment in [settings.standard] + others {
      let state = await probe(environment, settings.configuration, probes)
      probes.environments.append(state)
    }
    return probes
  }

  private func probe(
    _ environment: APNsEnvironment, _ configuration: APNsConfiguration, _ probes: APNsState
  ) async -> APNsState.EnvironmentState {
    var state = APNsState.EnvironmentState(
      environment: environment, endpoint: "\(configuration.endpoint(of: environment))")
    let connectivity = await Probe.find(within: configuration.connectTimeout + .seconds(1)) {
      do throws(ConnectivityFailure) {
        try await configuration.probeConnectivity(to: environment)
        return ConnectivityFailure?.none
      } catch {
        return error
      }
    }
    switch connectivity {
    case .known(let problem): state.problem = problem
    case .failed(let why):
      state.problem = ConnectivityFailure(.unreachable, "\(state.endpoint): \(why)")
    case .unasked: break
    }
    if state.problem == nil, probes.missing.isEmpty {
      await push(&state, configuration, probes)
    }
    return state
  }

  private func push(
    _ state: inout APNsState.EnvironmentState, _ configuration: APNsConfiguration,
    _ probes: APNsState
  ) async {
    guard let token = Self.token, let path = probes.key.path, let keyID = probes.key.keyID,
      let teamID = probes.key.teamID,
      let key = try? SigningKey(path: path, keyID: keyID, teamID: teamID)
    else { return }
    let lead = lead ?? .zero
    guard
      let client = try? APNSClient(
        configuration: configuration, key: key, now: { MachineTime.now + lead })
    else { return }
    let apps = probes.bundleIDs.sorted { $0.key.rawValue < $1.key.rawValue }
    let requests = apps.enumerated().map { index, app in
      PushRequest(
        ticket: UInt64(index), environment: state.environment, address: .device(token),
        headers: PushHeaders(
          id: PushID(of: "doctor", app.key.rawValue, "\(MachineTime.now.microseconds)"),
          topic: app.value, pushType: .background, priority: .powerAware, expiration: .neverStore),
        payload: Self.payload)
    }
    let (reports, feed) = AsyncStream.makeStream(of: PushReport.self)
    client.submit(requests) { for report in $0 { feed.yield(report) } }
    // The client's own timeout ends each of them.
    var open = requests.count
    for await report in reports {
      state.answers[apps[Int(report.ticket)].key] = report.outcome
      if case .refused(let refusal) = report.outcome, let time = refusal.serverTime {
        state.lead = time - now
      }
      open -= 1
      if open == 0 { break }
    }
    await client.close(within: .zero)
  }
}

/// The probe results of APNs and of its environment variables.
struct APNsState: Sendable {
  /// The probe results of one APNs environment.
  struct EnvironmentState: Sendable {
    var environment: APNsEnvironment
    /// The URL that its pushes are sent to.
    var endpoint: String
    /// Nil if the connection was established.
    var problem: ConnectivityFailure?
    /// The outcomes of the pushes to a made-up token, by app; empty if none could be sent.
    var answers: [App: PushOutcome] = [:]
    /// How far the clock of APNs is ahead of the one that signs tokens; nil if no answer had a
    /// time.
    var lead: Duration?
  }

  /// The result of reading `APNS_SANDBOX`, the endpoints and the CA file; on failure, what is
  /// wrong.
  var settings: Probe<String> = .unasked
  var hasCAFile = false
  var bundleIDs: [App: String] = [:]
  var key = KeyState()
  var environments: [EnvironmentState] = []
  /// Whether tokens were signed by the database's clock, as in the service.
  var usesDatabaseClock = false

  /// The names of the failed checks that prevent a push; empty if one can be sent.
  var missing: [String] {
    (KeyCheck.isUsable(key) ? [] : ["key"]) + (bundleIDs.isEmpty ? ["bundle IDs"] : [])
  }
}
