import Base
import PushClient
import RideCore

/// Probes APNs with the same client as the service.
struct APNsProbe {
  let environment: [String: String]
  /// How far the database's clock is ahead of the local one; nil if unknown.
  let lead: Duration?

  /// A token that belongs to no phone.
  private static let token = DeviceToken(String(repeating: "0", count: 64))

  private var now: Timestamp { MachineTime.now + (lead ?? .zero) }

  /// - Parameter isUsed: The environments that rows of phones name.
  func probes(isUsed: Set<APNsEnvironment>) async -> APNsState {
    var probes = APNsState()
    probes.bundleIDs = APNsVariables.bundleIDs(environment)
    probes.credentials = CredentialState(
      environment, bundleIDs: probes.bundleIDs,
      standard: (try? APNsVariables.defaultEnvironment(environment)) ?? .production, now: now)
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
    let others = APNsEnvironment.allCases.filter {
      $0 != settings.standard && (isUsed.contains($0) || probes.credentials.isSeparate)
    }
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
      environment: environment, endpoint: "\(configuration.endpoint(of: PushNetwork(environment)))")
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

  /// Sends one push for each credential and topic; apps that share both share the answer.
  private func push(
    _ state: inout APNsState.EnvironmentState, _ configuration: APNsConfiguration,
    _ probes: APNsState
  ) async {
    let lead = lead ?? .zero
    guard let token = Self.token,
      let client = try? PushClient(
        configuration: configuration, credentials: probes.credentials.credentials,
        now: { MachineTime.now + lead })
    else { return }
    let groups = groups(state.environment, probes)
    if groups.isEmpty { return }
    let requests = groups.enumerated().map { index, group in
      var request = PushRequest(
        ticket: UInt64(index), network: PushNetwork(state.environment), address: .device(token),
        headers: PushHeaders(
          id: PushID(of: "doctor", "\(index)", "\(MachineTime.now.microseconds)"),
          topic: group.topic, pushType: group.pushType, priority: .powerAware,
          expiration: .neverStore),
        payload: payload(group.pushType))
      request.lane = group.probes[0].app.rawValue
      return request
    }
    let (reports, feed) = AsyncStream.makeStream(of: PushReport.self)
    client.submit(requests) { for report in $0 { feed.yield(report) } }
    // The client's own timeout ends each of them.
    var open = requests.count
    for await report in reports {
      let group = groups[Int(report.ticket)]
      for probe in group.probes {
        state.answers[probe] = APNsState.Answer(
          outcome: report.outcome, credential: Self.name(group.credential))
      }
      if case .refused(let refusal) = report.outcome, let time = refusal.serverTime {
        state.lead = time - now
      }
      open -= 1
      if open == 0 { break }
    }
    await client.close(within: .zero)
  }

  private static func name(_ credential: Credential) -> String {
    switch credential {
    case .key: "key \(credential.name)"
    case .certificate, .serviceAccount: credential.name
    }
  }

  /// The probes of one credential and topic.
  private struct Group {
    let credential: Credential
    let topic: String
    let pushType: PushType
    var probes: [APNsState.PushProbe]
  }

  private func groups(_ environment: APNsEnvironment, _ state: APNsState) -> [Group] {
    var groups: [Group] = []
    for (app, bundleID) in state.bundleIDs.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
      let choice = state.credentials.credentials[.init(app, PushNetwork(environment))]
      for type in state.pushTypes(of: app, environment) {
        guard let credential = choice.credential(for: type) else { continue }
        let topic = type == .liveactivity ? bundleID + ".push-type.liveactivity" : bundleID
        let probe = APNsState.PushProbe(app: app, pushType: type)
        let known = groups.firstIndex { $0.credential == credential && $0.topic == topic }
        if let known {
          groups[known].probes.append(probe)
        } else {
          groups.append(
            Group(credential: credential, topic: topic, pushType: type, probes: [probe]))
        }
      }
    }
    return groups
  }

  private func payload(_ type: PushType) -> [UInt8] {
    switch type {
    case .liveactivity:
      let seconds = now.epochSeconds
      return Array(
        #"{"aps":{"timestamp":\#(seconds),"event":"update","content-state":{}}}"#.utf8)
    default: return Array(#"{"aps":{"content-available":1}}"#.utf8)
    }
  }
}

/// The probe results of APNs and of its environment variables.
struct APNsState: Sendable {
  /// A push of an app to a made-up token.
  struct PushProbe: Hashable, Sendable {
    var app: App
    var pushType = PushType.background
  }

  struct Answer: Hashable, Sendable {
    var outcome: PushOutcome
    /// What the push presented.
    var credential: String
  }

  /// The probe results of one APNs environment.
  struct EnvironmentState: Sendable {
    var environment: APNsEnvironment
    /// The URL that its pushes are sent to.
    var endpoint: String
    /// Nil if the connection was established.
    var problem: ConnectivityFailure?
    /// The outcomes of the pushes to a made-up token; empty if none could be sent.
    var answers: [PushProbe: Answer] = [:]
    /// How far the clock of APNs is ahead of the one that signs tokens; nil if no answer had a
    /// time.
    var lead: Duration?
  }

  /// The result of reading `APNS_SANDBOX`, the endpoints and the CA file; on failure, what is
  /// wrong.
  var settings: Probe<String> = .unasked
  var hasCAFile = false
  var bundleIDs: [App: String] = [:]
  var credentials = CredentialState()
  var environments: [EnvironmentState] = []
  /// Whether tokens were signed by the database's clock, as in the service.
  var usesDatabaseClock = false

  /// The names of the failed checks that prevent a push; empty if one can be sent.
  var missing: [String] {
    (credentials.isUsable ? [] : ["key"]) + (bundleIDs.isEmpty ? ["bundle IDs"] : [])
  }

  /// The push types that are tried for an app: a certificate can't send cards, so that the key next
  /// to it is tried with one.
  func pushTypes(of app: App, _ environment: APNsEnvironment) -> [PushType] {
    let choice = credentials.credentials[.init(app, PushNetwork(environment))]
    return choice.certificate != nil && choice.key != nil
      ? [.background, .liveactivity] : [.background]
  }
}
