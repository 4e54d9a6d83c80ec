import Base
import PostgresStore
import PushClient
import RideCore

/// Judges the service accounts of FCM and the Android phones that they are for.
enum FCMCheck {
  static func results(
    _ state: FCMState, phones: Probe<[AndroidPhoneCount]>
  ) -> [CheckResult] {
    var results: [CheckResult] = []
    if let problem = state.problem {
      results.append(.failure("FCM", problem, "fix that variable, or unset it"))
    }
    results += state.accounts.flatMap { checks(of: $0, state, phones) }
    if let endpoint = state.endpoint, !state.accounts.isEmpty {
      results.append(
        .warning(
          "FCM endpoint", "\(endpoint) is not Google's: FCM_URL is set",
          "unset FCM_URL if it is not a simulator or a proxy on purpose"))
    }
    return results
      + phones.judged("Android phones", else: "they can't be counted") { counts in
        counts.filter { $0.live > 0 && !state.apps.contains($0.app) }.map { lacking($0, state) }
      }
  }

  private static func lacking(_ count: AndroidPhoneCount, _ state: FCMState) -> CheckResult {
    let phones = counted(Int(count.live), "Android phone")
    if state.isForAllApps {
      return .warning(
        "FCM \(count.app)", "\(phones), and no rule is for \(count.app): nothing is sent to them",
        "write a rule for \(count.app)")
    }
    let google =
      state.hasGoogleVariable ? "; GOOGLE_APPLICATION_CREDENTIALS is set, and is not read" : ""
    return .failure(
      "FCM \(count.app)",
      "\(phones) and no service account: nothing can be sent to them\(google)",
      "export "
        + ShellText.word("\(FCMVariables.name(count.app))=service-account.json")
        + ", the file from Firebase's console, Project settings, Service accounts")
  }

  private static func checks(
    of account: FCMState.Account, _ state: FCMState, _ phones: Probe<[AndroidPhoneCount]>
  ) -> [CheckResult] {
    let apps: [App?] = account.apps.isEmpty ? [nil] : account.apps
    return apps.map { app in
      let name = app.map { "FCM \($0)" } ?? "FCM"
      switch (account.name, account.answer) {
      case (.failed(let why), _):
        return .failure(
          name, why, "export \(account.variable) with the path of the file, or unset it")
      case (.known(let text), .failed(let why)):
        return .failure(name, "\(text): \(why)", "run ridepulse doctor again")
      case (.known(let text), .known(let result)):
        let phones = Self.phones(phones, of: app)
        return answered(name, "\(text): ", result, account, state, phones)
      case (.unasked, _), (_, .unasked): return .skipped(name, needs: "its file")
      }
    }
  }

  private static func answered(
    _ name: String, _ text: String, _ result: FCMProbeResult, _ account: FCMState.Account,
    _ state: FCMState, _ phones: String
  ) -> CheckResult {
    func failure(_ what: String, _ word: String, _ why: String) -> CheckResult {
      .failure(name, text + what, FCMRemedy.text(word, why, variable: account.variable))
    }
    func unreached(_ what: String, _ kind: ConnectivityFailure.Kind, _ url: String) -> CheckResult {
      .failure(
        name, text + what,
        ConnectivityRemedy.text(
          kind, endpoint: url, caVariable: "FCM_CA_FILE", hasCAFile: state.hasCAFile))
    }
    switch result.finding {
    case .noToken(let problem):
      let what = "no access token: \(problem.text)"
      guard let kind = problem.connectivity else {
        return failure(what, problem.word, problem.text)
      }
      return unreached(what, kind, account.tokenURI)
    case .unreachable(let problem):
      let url = state.endpoint ?? "\(APNsConfiguration().fcm)"
      return unreached(problem.text, problem.kind, url)
    case .refused(let word, let why):
      return failure("FCM answered \(word)" + (why.isEmpty ? "" : ": \(why)"), word, why)
    case .maySend:
      let what = text + sending(result) + "; " + phones
      if account.isOpenToAll {
        return .warning(
          name, "\(what); every user may read \(account.path)",
          "chmod 600 \(ShellText.word(account.path))")
      }
      return .ok(name, what)
    }
  }

  private static func sending(_ result: FCMProbeResult) -> String {
    let time = result.tokenTime.map { " in \(Int(($0.inSeconds * 1000).rounded())) ms" }
    let seconds = result.clockLead?.components.seconds ?? 0
    // Within a second or two, as the answer's `date` shows it.
    let clock = abs(seconds) > 5 ? ", clock \(seconds > 0 ? "+" : "")\(seconds) s" : ""
    return "access token\(time ?? "")\(clock), may send"
  }

  private static func phones(_ phones: Probe<[AndroidPhoneCount]>, of app: App?) -> String {
    guard case .known(let counts) = phones else { return "its Android phones were not counted" }
    guard let count = counts.first(where: { $0.app == app }), count.live + count.lost > 0 else {
      return "no Android phone is registered"
    }
    var parts = [counted(Int(count.live), "Android phone")]
    if count.quiet > 0 { parts.append("\(count.quiet) not registered again for 30 days") }
    if count.quarantined > 0 { parts.append("\(count.quarantined) in quarantine") }
    if count.lost > 0 { parts.append("\(count.lost) disabled as UNREGISTERED this week") }
    return parts.joined(separator: ", ")
  }
}
