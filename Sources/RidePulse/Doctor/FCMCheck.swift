import Base
import PostgresStore
import PushClient
import RideCore

/// Judges the service accounts of FCM and the Android phones that they are for.
enum FCMCheck {
  static func results(
    _ state: FCMState, phones: Probe<[AndroidPhoneCount]>
  ) -> [CheckResult] {
    let counts = phones.value ?? []
    var results: [CheckResult] = []
    if let problem = state.problem {
      results.append(.failure("FCM", problem, "fix that variable, or unset it"))
    }
    results += state.accounts.flatMap { checks(of: $0, state, counts) }
    if let endpoint = state.endpoint, !state.accounts.isEmpty {
      results.append(
        .warning(
          "FCM endpoint", "\(endpoint) is not Google's: FCM_URL is set",
          "unset FCM_URL if it is not a simulator or a proxy on purpose"))
    }
    results += counts.filter { $0.live > 0 && !state.apps.contains($0.app) }.map {
      lacking($0, state)
    }
    return results
  }

  private static func lacking(_ count: AndroidPhoneCount, _ state: FCMState) -> CheckResult {
    let google =
      state.hasGoogleVariable ? "; GOOGLE_APPLICATION_CREDENTIALS is set, and is not read" : ""
    return .failure(
      "FCM \(count.app)",
      "\(counted(Int(count.live), "Android phone")) and no service account: nothing can be sent to "
        + "them\(google)",
      "export "
        + ShellText.word("\(FCMVariables.name(count.app))=service-account.json")
        + ", the file from Firebase's console, Project settings, Service accounts")
  }

  private static func checks(
    of account: FCMState.Account, _ state: FCMState, _ counts: [AndroidPhoneCount]
  ) -> [CheckResult] {
    account.apps.map { app in
      let name = "FCM \(app)"
      switch (account.name, account.answer) {
      case (.failed(let why), _):
        return .failure(
          name, why, "export \(account.variable) with the path of the file, or unset it")
      case (.known(let text), .failed(let why)):
        return .failure(name, "\(text): \(why)", "run ridepulse doctor again")
      case (.known(let text), .known(let result)):
        let count = counts.first { $0.app == app }
        return answered(name, "\(text): ", result, account, state, count)
      case (.unasked, _), (_, .unasked): return .skipped(name, needs: "its file")
      }
    }
  }

  private static func answered(
    _ name: String, _ text: String, _ result: FCMProbeResult, _ account: FCMState.Account,
    _ state: FCMState, _ count: AndroidPhoneCount?
  ) -> CheckResult {
    func failure(_ what: String, _ word: String, _ why: String) -> CheckResult {
      .failure(
        name, text + what,
        FCMRemedy.text(word, why, variable: account.variable, hasCAFile: state.hasCAFile))
    }
    switch result.finding {
    case .noToken(let problem):
      return failure("no access token: \(problem.text)", problem.word, problem.text)
    case .unreachable(let problem):
      return failure(problem.text, "no_connection", problem.text)
    case .refused(let word, let why):
      return failure("FCM answered \(word)" + (why.isEmpty ? "" : ": \(why)"), word, why)
    case .maySend:
      let what = text + sending(result) + "; " + phones(count)
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

  private static func phones(_ count: AndroidPhoneCount?) -> String {
    guard let count, count.live + count.lost > 0 else { return "no Android phone is registered" }
    var parts = [counted(Int(count.live), "Android phone")]
    if count.quiet > 0 { parts.append("\(count.quiet) not registered again for 30 days") }
    if count.quarantined > 0 { parts.append("\(count.quarantined) in quarantine") }
    if count.lost > 0 { parts.append("\(count.lost) disabled as UNREGISTERED this week") }
    return parts.joined(separator: ", ")
  }
}
