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
  /// Whether Google's own variable is set and none of RidePulse's: it has no effect.
  var hasGoogleVariable = false

  /// The apps that have a service account.
  var apps: Set<App> { Set(accounts.flatMap(\.apps)) }

  /// Whether the environment has anything about FCM.
  var isConfigured: Bool { problem != nil || !accounts.isEmpty }
}

extension FCMState {
  /// Reads the environment, and asks FCM whether each account may send.
  ///
  /// - Parameters:
  ///   - apps: The apps of the rules.
  ///   - lead: How far the database's clock is ahead of the local one.
  init(_ environment: [String: String], apps: Set<App>, lead: Duration?) async {
    let variables: FCMVariables
    do throws(CommandFailure) {
      variables = try FCMVariables(environment).spelled(as: Array(apps))
    } catch {
      problem = error.description
      return
    }
    endpoint = variables.endpoint.map { "\($0)" }
    hasCAFile = variables.caFile != nil
    hasGoogleVariable =
      variables.isEmpty && environment.nonEmpty("GOOGLE_APPLICATION_CREDENTIALS") != nil
    let users = Dictionary(grouping: variables.apps) { variables.source(of: $0) }
    for (source, apps) in users {
      guard let source else { continue }
      accounts.append(await Self.account(source, apps, variables, lead: lead ?? .zero))
    }
    accounts.sort { $0.variable < $1.variable }
  }

  private static func account(
    _ source: FCMVariables.Source, _ apps: [App], _ variables: FCMVariables, lead: Duration
  ) async -> Account {
    var state = Account(
      apps: apps, variable: source.variable, path: source.path,
      isOpenToAll: KeyState.isOpenToAll(source.path), name: .unasked)
    do throws(CommandFailure) {
      let account = try source.load()
      state.name = .known("project \(account.project), key \(account.keyID.prefix(6))")
      var configuration = APNsConfiguration()
      variables.apply(to: &configuration)
      let (endpoint, trust) = (configuration.fcm, configuration.fcmCAFile)
      state.answer = await Probe.find(within: .seconds(31)) {
        await FCMProbe.run(
          account: account, endpoint: endpoint, trust: trust, now: { MachineTime.now + lead })
      }
    } catch {
      state.name = .failed(error.description)
    }
    return state
  }
}
