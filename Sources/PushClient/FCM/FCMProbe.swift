package import Base
import RideCore
import SystemSupport

/// What a service account can do at this moment, for `doctor`.
package struct FCMProbeResult: Hashable, Sendable {
  package enum Finding: Hashable, Sendable {
    /// FCM examined a message that it was asked not to deliver: key, clock, project and role are
    /// right.
    case maySend
    /// The token endpoint gave no access token.
    case noToken(AccessTokenProblem)
    /// FCM was not reached.
    case unreachable(ConnectivityFailure)
    /// FCM refused the message before it examined it. The word is a reason such as
    /// `SERVICE_DISABLED`, a status such as `PERMISSION_DENIED` or `NOT_FOUND`, or `HTTP 502`; the
    /// text is Google's.
    case refused(word: String, text: String)
  }

  package var finding: Finding
  /// How long the access token took; nil without one.
  package var tokenTime: Duration?
  /// How far Google's clock is ahead, within a second or two; nil if no answer shows it.
  package var clockLead: Duration?
}

/// Gets an access token, and has FCM check a message without delivering it.
package enum FCMProbe {
  /// Runs the probe on a thread of its own; it ends within 30 s.
  ///
  /// - Parameters:
  ///   - trust: A PEM file of certificate authorities trusted in addition to the system's.
  ///   - now: The wall clock that the service would use.
  package static func run(
    account: ServiceAccount, endpoint: APNsEndpoint, trust: String?,
    now: @escaping @Sendable () -> Timestamp
  ) async -> FCMProbeResult {
    await withCheckedContinuation { done in
      let thread = WorkerThread {
        done.resume(returning: probe(account, endpoint, trust, now))
      }
      if let thread { return thread.detach() }
      let failure = ConnectivityFailure(.unreachable, "the system has no thread left")
      done.resume(returning: FCMProbeResult(finding: .unreachable(failure)))
    }
  }

  /// Returns an access token, for another client that `make bench` compares with; blocks up to 10 s.
  package static func accessToken(
    of account: ServiceAccount, trust: String?, at time: Timestamp
  ) throws(AccessTokenProblem) -> String {
    let exchange = OAuthExchange(account: account, caFile: trust)
    switch exchange.fetch(at: time, exchange.verifier()).answer {
    case .token(let token, _): return token
    case .problem(let problem): throw problem
    }
  }

  private static func probe(
    _ account: ServiceAccount, _ endpoint: APNsEndpoint, _ trust: String?,
    _ now: @Sendable () -> Timestamp
  ) -> FCMProbeResult {
    let exchange = OAuthExchange(account: account, caFile: trust)
    var start = MonotonicTime.now()
    var outcome = exchange.fetch(at: now(), exchange.verifier())
    let lead = outcome.serverTime.map { $0 - now() }
    if case .problem(let problem) = outcome.answer, problem.isOfConfiguration, let lead,
      abs(lead.microseconds) > ServerClock.toleratedSkew.microseconds
    {
      // As the service does.
      start = .now()
      outcome = exchange.fetch(at: now() + lead, exchange.verifier())
    }
    switch outcome.answer {
    case .problem(let problem):
      return FCMProbeResult(finding: .noToken(problem), clockLead: lead)
    case .token(let token, _):
      let time = MonotonicTime.now() - start
      return FCMProbeResult(
        finding: send(account, token, endpoint, trust), tokenTime: time, clockLead: lead)
    }
  }

  /// A target that no registration has: FCM refuses it last of all, so everything before is right.
  private static let message =
    #"{"message":{"android":{"priority":"NORMAL","ttl":"0s"},"token":"x"},"validate_only":true}"#

  private static func send(
    _ account: ServiceAccount, _ token: String, _ endpoint: APNsEndpoint, _ trust: String?
  ) -> FCMProbeResult.Finding {
    let post = CurlPost(
      url: "\(endpoint)/v1/projects/\(account.project)/messages:send",
      headers: ["authorization: Bearer \(token)", "content-type: application/json"],
      body: Array(message.utf8))
    let verifier = TLSVerifier(caFile: trust, readsAhead: false)
    do throws(CurlError) {
      let answer = try post.send(verifier, usesHTTP2: true)
      guard verifier.hasAgreedOnHTTP2 else { throw CurlError.noHTTP2(at: endpoint) }
      return finding(answer.status, answer.body)
    } catch {
      return .unreachable(ConnectivityFailure(error.kind, error.text))
    }
  }

  /// Returns what an answer shows.
  static func finding(_ status: Int, _ body: [UInt8]) -> FCMProbeResult.Finding {
    let error = JSONValue(json: body)?["error"]
    let details = FCMAnswer.elements(error?["details"])
    func detail(_ type: String) -> JSONValue? {
      details.first { FCMAnswer.isOf($0, "/google." + type) }
    }
    // Only FCM itself gives its own word; what is before it refuses without one.
    let isExamined = status == 400 && detail("firebase.fcm.v1.FcmError") != nil
    if status == 200 || isExamined { return .maySend }
    let word =
      FCMAnswer.text(detail("rpc.ErrorInfo")?["reason"]) ?? FCMAnswer.text(error?["status"])
    let line = FCMAnswer.text(error?["message"])?.utf8.prefix(300).map { $0 < 0x20 ? 0x20 : $0 }
    return .refused(
      word: word ?? "HTTP \(status)", text: line.map { String(decoding: $0, as: UTF8.self) } ?? "")
  }
}
