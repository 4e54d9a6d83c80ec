package import RideCore

/// The way to APNs over HTTP/2, with provider tokens.
///
/// Each push ends in exactly one report within `APNsConfiguration.requestTimeout`, whatever the
/// network does. A push that APNs provably did not process is sent again, with the same `apns-id`;
/// one that may have been processed never is. Order between pushes is kept only as far as one
/// connection keeps it: two pushes for one phone should not be in flight together.
package final class APNSClient: PushTransport {
  private let supervisor: Supervisor
  private let production: Pool
  private let sandbox: Pool
  /// Of environments whose broadcasts go elsewhere than their pushes.
  private let broadcasts: [APNsEnvironment: Pool]
  let configuration: APNsConfiguration
  let mint: TokenMint
  let now: @Sendable () -> Timestamp

  /// A client that opens connections when the first push comes.
  ///
  /// `now` is the wall clock that signs tokens and should be the service's own (the database's).
  /// `events` is called on the client's threads and must not block.
  ///
  /// - Throws: `TransportStartError` where the system has no thread or file descriptor left.
  package init(
    configuration: APNsConfiguration, key: SigningKey, now: @escaping @Sendable () -> Timestamp,
    events: @escaping @Sendable (TransportEvent) -> Void = { _ in }
  ) throws(TransportStartError) {
    guard let supervisor = Supervisor() else { throw TransportStartError() }
    let mint = TokenMint(key: key)
    let pool = { @Sendable (environment: APNsEnvironment, endpoint: APNsEndpoint) in
      Pool(
        environment: environment, endpoint: endpoint, configuration: configuration, mint: mint,
        supervisor: supervisor, now: now, events: events)
    }
    self.supervisor = supervisor
    self.configuration = configuration
    self.mint = mint
    self.now = now
    production = pool(.production, configuration.production)
    sandbox = pool(.sandbox, configuration.sandbox)
    var broadcasts: [APNsEnvironment: Pool] = [:]
    for environment in APNsEnvironment.allCases {
      let endpoint = configuration.broadcast(of: environment)
      if endpoint == configuration.endpoint(of: environment) { continue }
      broadcasts[environment] = pool(environment, endpoint)
    }
    self.broadcasts = broadcasts
    let pools = [production, sandbox] + broadcasts.values
    guard let thread = WorkerThread({ supervisor.run(pools) }) else { throw TransportStartError() }
    // Nobody could wait for it without blocking; it ends with `close`.
    thread.detach()
  }

  deinit { supervisor.close(pools, at: .now(), then: {}) }

  private var pools: [Pool] { [production, sandbox] + broadcasts.values }

  /// Takes pushes and returns at once; each ends in exactly one report.
  package func submit(
    _ requests: [PushRequest], report: @escaping @Sendable ([PushReport]) -> Void
  ) {
    let submission = Submission(requests, report: report)
    var accepted: [PoolName: [QueuedPush]] = [:]
    var rejected: [PoolStateMachine<QueuedPush>.Rejected] = []
    for index in requests.indices {
      let push = QueuedPush(submission: submission, index: index)
      if let problem = requests[index].problem {
        rejected.append((push, .invalid(problem)))
      } else {
        accepted[name(requests[index]), default: []].append(push)
      }
    }
    for (name, pushes) in accepted where !pool(name).submit(pushes) {
      rejected += pushes.map { ($0, .closed) }
    }
    supervisor.reject(rejected)
  }

  /// Signs with another key from now on: connections of the old one finish what they have.
  package func use(_ key: SigningKey) {
    mint.use(key)
  }

  /// Takes no more pushes, gives those in flight this long, and ends its threads.
  ///
  /// What waited is reported `unsent`, what is not answered by then `unanswered`. A connection that
  /// is just being opened may hold the end up for about a second. A second call waits for the same
  /// end, with the shorter limit of both.
  package func close(within limit: Duration) async {
    let deadline = MonotonicTime.now() + max(.zero, limit)
    await withCheckedContinuation { continuation in
      supervisor.close(pools, at: deadline) { continuation.resume() }
    }
  }

  /// What the connections of one environment are doing now; not those that only broadcast.
  package func statistics(of environment: APNsEnvironment) -> TransportStatistics {
    pool(PoolName(environment: environment, broadcasts: false)).statistics()
  }

  /// How old the provider token is, where one was signed, and how far APNs' clock is ahead of `now`,
  /// where APNs has said so.
  package func tokenStatistics() -> (age: Duration?, ahead: Duration) {
    mint.statistics(at: now())
  }

  private struct PoolName: Hashable {
    var environment: APNsEnvironment
    var broadcasts: Bool
  }

  private func name(_ request: PushRequest) -> PoolName {
    if !broadcasts.isEmpty, case .channel = request.address {
      return PoolName(environment: request.environment, broadcasts: true)
    }
    return PoolName(environment: request.environment, broadcasts: false)
  }

  private func pool(_ name: PoolName) -> Pool {
    if name.broadcasts, let pool = broadcasts[name.environment] { return pool }
    return name.environment == .production ? production : sandbox
  }
}

/// The system gave no thread or no file descriptor to begin with.
package struct TransportStartError: Error, Hashable, CustomStringConvertible {
  /// What to look at.
  package var description: String {
    "the APNs client can't start: the system gives no more threads or file descriptors"
  }
}

extension PushRequest {
  /// Why this push can't be sent at all; nil where it can.
  var problem: String? {
    if payload.isEmpty { return "the payload is empty" }
    if payload.count > address.payloadLimit {
      return "the payload has \(payload.count) bytes; APNs takes \(address.payloadLimit)"
    }
    let isPlain = headers.topic.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7f }
    guard isPlain, (1...255).contains(headers.topic.utf8.count) else {
      return "the topic is empty, too long, or holds characters that no bundle ID has"
    }
    return nil
  }
}
