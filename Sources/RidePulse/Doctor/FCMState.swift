import Base
import PushClient
import RideCore

/// The FCM settings of the environment, and what Google's servers answer to them.
struct FCMState: Sendable {
  /// One service account and the apps that it sends for.
  struct Account: Sendable {
    var apps: [App]
    /// The variable that names the file.
    var variable: String
    var path: String
    /// Where its access tokens come from; empty if the file can't be used.
    var tokenURI = ""
    /// Whether every user of the machine may read the file.
    var isOpenToAll = false
    /// Its project and the beginning of its key's ID; on failure, what is wrong with the file.
    var name: Probe<String>
    var answer: Probe<FCMProbeResult> = .unasked
  }

  /// What is wrong with `FCM_URL` or `FCM_CA_FILE`.
  var problem: String?
  var accounts: [Account] = []
  /// The endpoint, if it is not Google's.
  var endpoint: String?
  var hasCAFile = false
  /// Whether a variable names a file for all apps of the rules.
  var isForAllApps = false
  /// Whether Google's own variable is set and none of RidePulse's: it has no effect.
  var hasGoogleVariable = false

  /// The apps that have a service account.
  var apps: Set<App> { Set(accounts.flatMap(\.apps)) }

  /// Whether the environment has anything about FCM.
  var isConfigured: Bool { problem != nil || !accounts.isEmpty }
}

/// The FCM settings of the environment, with each file read once.
struct FCMSettings: Sendable {
  let variables: Result<FCMVariables, CommandFailure>
  let files: ServiceAccountFiles
  let hasGoogleVariable: Bool

  init(_ environment: [String: String]) {
    hasGoogleVariable = environment.nonEmpty("GOOGLE_APPLICATION_CREDENTIALS") != nil
    do throws(CommandFailure) {
      let read = try FCMVariables(environment)
      variables = .success(read)
      files = ServiceAccountFiles(read.sources)
    } catch {
      variables = .failure(error)
      files = ServiceAccountFiles([])
    }
  }

  /// Returns the Firebase project of each app whose service account can be used.
  ///
  /// - Parameter apps: The apps of the rules.
  func projects(of apps: Set<App>) -> [App: String] {
    guard case .success(let variables) = variables else { return [:] }
    let spelled = variables.spelled(as: Array(apps))
    let found = spelled.apps.map { ($0, files.account(of: $0, spelled)?.project) }
    return Dictionary(found) { first, _ in first }.compactMapValues(\.self)
  }
}

extension FCMState {
  /// Asks FCM whether each account may send: all at once, so that the limit of one is that of all.
  ///
  /// - Parameters:
  ///   - apps: The apps that the file for all apps is for; without any, that file is probed alone.
  ///   - lead: How far the database's clock is ahead of the local one.
  init(_ settings: FCMSettings, apps: Set<App>, lead: Duration?) async {
    let variables: FCMVariables
    switch settings.variables {
    case .success(let read): variables = read.spelled(as: Array(apps))
    case .failure(let failure):
      problem = failure.description
      return
    }
    endpoint = variables.endpoint.map { "\($0)" }
    hasCAFile = variables.caFile != nil
    isForAllApps = variables.general != nil
    hasGoogleVariable = variables.isEmpty && settings.hasGoogleVariable
    let probes = Self.users(variables, apps).map { source, apps in
      { @Sendable in
        await Self.account(source, apps, variables, settings.files, lead: lead ?? .zero)
      }
    }
    accounts = await withTaskGroup(of: Account.self) { group in
      for probe in probes { group.addTask(operation: probe) }
      return await group.reduce(into: []) { $0.append($1) }
    }
    accounts.sort { $0.variable < $1.variable }
  }

  /// Returns the files, each with its apps.
  private static func users(
    _ variables: FCMVariables, _ apps: Set<App>
  ) -> [FCMVariables.Source: [App]] {
    var users: [FCMVariables.Source: [App]] = [:]
    if apps.isEmpty, let general = variables.general { users[general] = [] }
    for app in variables.apps {
      if let source = variables.source(of: app) { users[source, default: []].append(app) }
    }
    return users
  }

  private static func account(
    _ source: FCMVariables.Source, _ apps: [App], _ variables: FCMVariables,
    _ files: ServiceAccountFiles, lead: Duration
  ) async -> Account {
    var state = Account(
      apps: apps, variable: source.variable, path: source.path,
      isOpenToAll: KeyState.isOpenToAll(source.path), name: .unasked)
    switch files[source] {
    case .success(let account)?:
      state.name = .known("project \(account.project), key \(account.keyID.prefix(6))")
      state.tokenURI = account.tokenURI
      var configuration = APNsConfiguration()
      variables.apply(to: &configuration)
      let (endpoint, trust) = (configuration.fcm, configuration.fcmCAFile)
      state.answer = await Probe.find(within: .seconds(31)) {
        await FCMProbe.run(
          account: account, endpoint: endpoint, trust: trust, now: { MachineTime.now + lead })
      }
    case .failure(let problem)?: state.name = .failed(problem.description)
    case nil: break
    }
    return state
  }
}
