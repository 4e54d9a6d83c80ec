package import RideCore
import SystemSupport

/// Sends pushes to APNs over HTTP/2, authenticated by provider tokens.
///
/// Each push ends in exactly one report within `APNsConfiguration.requestTimeout`, whatever the
/// network does. A push that APNs provably did not process is sent again with the same `apns-id`; a
/// push that may have been processed is never sent again. Only one connection keeps the order of
/// its pushes, so two pushes for one phone should not be in flight together.
package final class APNSClient: PushTransport {
  private let supervisor: Supervisor
  private let production: Pool
  private let sandbox: Pool
  /// Pools of the environments whose broadcasts use another endpoint than their pushes.
  private let broadcasts: [APNsEnvironment: Pool]
  let configuration: APNsConfiguration
  let mint: TokenMint
  let now: @Sendable () -> Timestamp

  /// Creates a client that opens connections when the first push arrives.
  ///
  /// `now` is the wall clock used for signing tokens; it should be the service's own (the
  /// database's). `events` is called on the client's threads and must not block.
  ///
  /// - Throws: `TransportStartError` if the system has no thread or file descriptor left.
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
    // Detached because joining it would block; the thread ends after `close`.
    thread.detach()
  }

  deinit { supervisor.close(pools, at: .now(), then: {}) }

  private var pools: [Pool] { [production, sandbox] + broadcasts.values }

  /// Accepts pushes and returns at once; each push ends in exactly one report.
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

  /// Signs with another key from now on; connections that use the old key finish their open
  /// streams.
  package func use(_ key: SigningKey) {
    mint.use(key)
  }

  /// Stops accepting pushes, waits up to `limit` for those in flight, and ends the client's
  /// threads.
  ///
  /// Queued pushes are reported `unsent`; pushes without an answer by the limit are reported
  /// `unanswered`. A connection that is still being opened may delay the end by about a second. A
  /// second call waits for the same end; the shorter of the two limits applies.
  package func close(within limit: Duration) async {
    let deadline = MonotonicTime.now() + max(.zero, limit)
    await withCheckedContinuation { continuation in
      supervisor.close(pools, at: deadline) { continuation.resume() }
    }
  }

  /// Returns the statistics of one environment's connections, except those used only for
  /// broadcasts.
  package func statistics(of environment: APNsEnvironment) -> TransportStatistics {
    pool(PoolName(environment: environment, broadcasts: false)).statistics()
  }

  /// Returns the age of the provider token and how far APNs' clock is ahead of `now`.
  ///
  /// The age is nil until a token was signed; `ahead` is zero unless APNs has reported a difference
  /// that matters.
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

/// The system has no thread or file descriptor left to start the client.
package struct TransportStartError: Error, Hashable, CustomStringConvertible {
  /// The error and its cause in one line.
  package var description: String {
    "the APNs client can't start: the system gives no more threads or file descriptors"
  }
}

extension PushRequest {
  /// Returns why this push can't be sent at all, or nil if it can.
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
