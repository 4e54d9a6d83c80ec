import Base
import RideCore
import Synchronization

/// Sends the channel requests of one environment and credential one after another, each on its
/// caller's thread.
final class ChannelSender: Sendable {
  private struct State {
    var connection: ChannelConnection?
    var token: ProviderToken?
  }

  private let endpoint: APNsEndpoint
  private let configuration: APNsConfiguration
  private let authentication: Authentication
  private let now: @Sendable () -> Timestamp
  private let state = Mutex(State())

  init(
    endpoint: APNsEndpoint, configuration: APNsConfiguration, authentication: Authentication,
    now: @escaping @Sendable () -> Timestamp
  ) {
    self.endpoint = endpoint
    self.configuration = configuration
    self.authentication = authentication
    self.now = now
  }

  /// Sends a request, twice if that does no harm and the first attempt failed.
  ///
  /// Blocks until the deadline at most.
  func answer(_ request: ChannelRequest, by deadline: MonotonicTime) -> Result<
    ChannelAnswer, ChannelError
  > {
    state.withLock { state in
      let first = attempt(request, by: deadline, &state)
      guard request.isRepeatable, case .failure(let error) = first, error.mayPass,
        MonotonicTime.now() < deadline
      else { return first }
      let second = attempt(request, by: deadline, &state)
      // The first attempt deleted the channel; its answer was lost.
      if request.method == "DELETE", error.mayHaveTakenEffect,
        case .failure(.refused(let refusal)) = second, refusal.status == 404
      {
        return .success(ChannelAnswer(status: 204))
      }
      return second
    }
  }

  private func attempt(
    _ request: ChannelRequest, by deadline: MonotonicTime, _ state: inout State
  ) -> Result<ChannelAnswer, ChannelError> {
    do throws(ChannelError) {
      return .success(try send(request, by: deadline, &state))
    } catch {
      state = State()
      return .failure(error)
    }
  }

  private func send(
    _ request: ChannelRequest, by deadline: MonotonicTime, _ state: inout State
  ) throws(ChannelError) -> ChannelAnswer {
    let token: ProviderToken?
    do throws(SigningKeyError) {
      token = try authentication.mint?.token(at: now())
    } catch {
      throw .key(error)
    }
    // APNs refuses a connection that presents a second token within 20 minutes.
    if state.token != token { state = State() }
    let connection: ChannelConnection
    if let open = state.connection {
      connection = open
    } else {
      connection = try ChannelConnection(
        to: endpoint, caFile: configuration.caFile, certificate: authentication.certificate)
    }
    state = State(connection: connection, token: token)
    let left = deadline - MonotonicTime.now()
    guard left > .zero else { throw .unreachable("other calls took all the time") }
    let authorization = token.map { String(decoding: $0.authorization, as: UTF8.self) }
    let answer = try connection.perform(request, authorization: authorization, timeout: left)
    if (200..<300).contains(answer.status) { return answer }
    throw .refused(refusal(answer, token))
  }

  private func refusal(_ answer: ChannelAnswer, _ token: ProviderToken?) -> ChannelRefusal {
    let refusal = ChannelRefusal(
      status: answer.status, reason: ReasonBody(answer.body)?.reason,
      requestID: answer.headers["apns-request-id"])
    guard refusal.status == 403, let token, let mint = authentication.mint else { return refusal }
    if let date = answer.headers["date"].flatMap({ RetryAfter.date(Array($0.utf8)) }) {
      _ = mint.learn(serverTime: date, at: now())
    }
    if refusal.reportsExpiredToken { mint.expired(token, at: now()) }
    return refusal
  }
}

extension ChannelError {
  /// True if the same request may succeed when it is repeated at once.
  fileprivate var mayPass: Bool {
    switch self {
    case .unanswered, .unreachable: true
    case .refused(let refusal):
      refusal.reportsExpiredToken || refusal.reason == ChannelRefusal.shutdown
    case .key, .noCredential: false
    }
  }
}
