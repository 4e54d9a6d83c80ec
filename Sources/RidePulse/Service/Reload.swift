import Base
import Dispatch
import PushClient
import RideCore
import RuleFiles
import Synchronization

/// Rereads the rule files, the receivers of posts, and the keys and certificates, on SIGHUP and by
/// `POST /v1/reload`, and adopts each of the three only if it is valid.
final class Reload: Sendable {
  private let services: Services
  private let variables: APNsVariables
  private let directories: RuleDirectories
  private let environment: [String: String]
  private let log: Log
  /// Held by the reload in progress.
  private let turn = Mutex(())

  /// What a reload did.
  enum Outcome: Sendable {
    /// The rules were replaced.
    ///
    /// - Parameter kept: what else was not replaced, with the problem.
    case done(RuleRelease, RuleChanges, kept: [String])
    case refused(RuleProblems)
  }

  init(
    _ services: Services, _ variables: APNsVariables, _ directories: RuleDirectories,
    _ environment: [String: String], _ log: Log
  ) {
    (self.services, self.variables, self.directories) = (services, variables, directories)
    (self.environment, self.log) = (environment, log)
  }

  /// Reloads everything, after the reload in progress. Keys are replaced even if the rules are
  /// refused.
  func perform() {
    turn.withLock { _ in _ = run(keysNeedRules: false) }
  }

  /// Reloads everything, or nothing if the rules are refused; nil if a reload is in progress.
  func performAlone() async -> Outcome? {
    // Reading files must not block the threads that send.
    await withCheckedContinuation { continuation in
      DispatchQueue.global().async { [self] in
        continuation.resume(
          returning: turn.withLockIfAvailable { _ in run(keysNeedRules: true) })
      }
    }
  }

  private func run(keysNeedRules: Bool) -> Outcome {
    let loaded = directories.load()
    if case .failure(let problems) = loaded {
      for problem in problems.problems {
        log(.error, .rulesNotReloaded, ["problem": "\(problem)"])
      }
      for service in services.all { service.refuse(problems) }
      if keysNeedRules { return .refused(problems) }
    }
    let old = services.release
    let new = (try? loaded.get()) ?? old
    let apns = variables.spelled(as: new.all.apps)
    var kept = [receivers()]
    if apns.fcm.isEmpty || !apns.bundleIDs.isEmpty { kept.append(keys(apns, new.all)) }
    // Before the rules, which may have an app that needs one.
    if !apns.fcm.isEmpty { kept.append(serviceAccounts(apns)) }
    switch loaded {
    case .failure(let problems): return .refused(problems)
    case .success(let release):
      for service in services.all { service.use(release, apns) }
      log(
        .info, .rulesReloaded,
        ["rules": release.rules.rules.count, "digest": release.revision.start])
      release.logTrial(log)
      let changes = RuleChanges(from: old.rules, to: release.rules)
      return .done(release, changes, kept: kept.compactMap(\.self))
    }
  }

  /// - Returns: Why the previous ones stay in use; nil if they are replaced.
  private func keys(_ apns: APNsVariables, _ rules: RuleSet) -> String? {
    do {
      let old = services.shared.credentials
      let keys = try apns.credentials.reload(after: old, bundleIDs: apns.bundleIDs)
      let new = keys.with(old.android, apns.bundleIDs)
      services.use(new)
      let state = new == old ? "unchanged" : "replaced"
      log(.info, .keysReloaded, ["credentials": keys.names, "state": state])
      for doubt in apns.credentials.unconfirmed(after: old, new) {
        log(.warning, .credentialsDoubtful, ["problem": doubt])
      }
      Self.warn(new, apns, rules, at: services.now, log)
      return nil
    } catch {
      log(.error, .keysNotReloaded, ["problem": "\(error)"])
      return "APNs keys: \(error)"
    }
  }

  /// Apart from the keys of Apple, so that a bad file of one service does not keep the other's.
  private func serviceAccounts(_ apns: APNsVariables) -> String? {
    let old = services.shared.credentials
    do {
      let accounts = try apns.fcm.reload(after: old)
      services.use(old.with(accounts, apns.bundleIDs))
      let names = Set(accounts.values.compactMap { $0.serviceAccount?.description }).sorted()
      log(
        .info, .serviceAccountsReloaded,
        [
          "credentials": names.joined(separator: ", "),
          "state": accounts == old.android ? "unchanged" : "replaced",
        ])
      return nil
    } catch {
      let kept = apns.fcm.kept(of: old)
      if kept != old.android { services.use(old.with(kept, apns.bundleIDs)) }
      log(.error, .serviceAccountsNotReloaded, ["problem": "\(error)"])
      return "FCM service accounts: \(error)"
    }
  }

  private func receivers() -> String? {
    do {
      let receivers = try PostVariables(environment).receivers
      if receivers.isEmpty { return nil }
      for service in services.all { service.use(receivers) }
      log(.info, .receiversReloaded, ["receivers": receivers.count])
      return nil
    } catch {
      log(.error, .receiversNotReloaded, ["problem": "\(error)"])
      return "receivers of posts: \(error)"
    }
  }

  /// Logs what is doubtful about the credentials in use.
  static func warn(
    _ credentials: Credentials, _ apns: APNsVariables, _ rules: RuleSet, at now: Timestamp,
    _ log: Log
  ) {
    let doubts = CredentialAdvice.all(credentials, apns, cardApps: rules.cardApps, at: now)
    for doubt in doubts { log(.warning, .credentialsDoubtful, ["problem": doubt]) }
  }
}
