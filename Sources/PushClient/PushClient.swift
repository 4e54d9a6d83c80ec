package import Base
package import RideCore
import SystemSupport

/// Sends pushes to APNs over HTTP/2, authenticated by provider tokens or client certificates.
///
/// Each push ends in exactly one report within `APNsConfiguration.requestTimeout`, whatever the
/// network does. A push that APNs provably did not process is sent again with the same `apns-id`; a
/// push that may have been processed is never sent again. Only one connection keeps the order of
/// its pushes, so two pushes for one phone should not be in flight together.
package final class PushClient: PushTransport {
  private let supervisor: Supervisor
  private let pools: PoolTable
  let configuration: APNsConfiguration
  let credentials: CredentialStore
  let now: @Sendable () -> Timestamp

  /// Creates a client that opens connections when the first push arrives.
  ///
  /// `now` is the wall clock used for signing tokens; it should be the service's own (the
  /// database's). `events` is called on the client's threads and must not block.
  ///
  /// - Throws: `TransportStartError` if the system has no thread or file descriptor left.
  package init(
    configuration: APNsConfiguration, credentials: Credentials,
    now: @escaping @Sendable () -> Timestamp,
    events: @escaping @Sendable (TransportEvent) -> Void = { _ in }
  ) throws(TransportStartError) {
    guard let supervisor = Supervisor() else { throw TransportStartError() }
    let store = CredentialStore(credentials) { account, inherited in
      AccessTokenMint(
        account: account, inheriting: inherited, trust: configuration.fcmCAFile,
        connectTimeout: configuration.connectTimeout, now: now,
        events: { events(TransportEvent(account, $0)) })
    }
    let pools = PoolTable(
      configuration: configuration, credentials: store, supervisor: supervisor, now: now,
      events: events)
    self.supervisor = supervisor
    self.pools = pools
    self.configuration = configuration
    self.credentials = store
    self.now = now
    guard let thread = WorkerThread({ supervisor.run(pools) }) else { throw TransportStartError() }
    // Detached because joining it would block; the thread ends after `close`.
    thread.detach()
  }

  /// Creates a client that signs everything with one key.
  package convenience init(
    configuration: APNsConfiguration, key: SigningKey, now: @escaping @Sendable () -> Timestamp,
    events: @escaping @Sendable (TransportEvent) -> Void = { _ in }
  ) throws(TransportStartError) {
    try self.init(
      configuration: configuration, credentials: Credentials(key: key), now: now, events: events)
  }

  deinit {
    credentials.close()
    supervisor.close(pools, at: .now(), then: {})
  }

  /// Accepts pushes and returns at once; each push ends in exactly one report.
  package func submit(
    _ requests: [PushRequest], report: @escaping @Sendable ([PushReport]) -> Void
  ) {
    submit(requests, of: 0, report: report)
  }

  /// Accepts the pushes of one of several senders; those of an app take turns by sender.
  package func submit(
    _ requests: [PushRequest], of sender: Int, report: @escaping @Sendable ([PushReport]) -> Void
  ) {
    let submission = Submission(requests, of: sender, report: report)
    var accepted: [QueuedPush] = []
    var rejected: [PoolTable.Rejected] = []
    accepted.reserveCapacity(requests.count)
    for index in requests.indices {
      let push = QueuedPush(submission: submission, index: index)
      if let problem = requests[index].problem {
        rejected.append((push, .invalid(problem)))
      } else {
        accepted.append(push)
      }
    }
    supervisor.reject(rejected + pools.submit(accepted))
  }

  /// Replaces keys and certificates. Equal ones keep their connections.
  ///
  /// A connection whose credential is replaced finishes its open streams; pushes that wait for it
  /// leave with the new credential, each within the deadline that it has.
  package func use(_ credentials: Credentials) {
    supervisor.reject(pools.use(credentials))
  }

  /// The credentials of new pushes.
  package var credentialsInUse: Credentials { credentials.current }

  /// Stops accepting pushes, waits up to `limit` for those in flight, and ends the client's
  /// threads.
  ///
  /// Queued pushes are reported `unsent`; pushes without an answer by the limit are reported
  /// `unanswered`. A connection that is still being opened may delay the end by about a second. A
  /// second call waits for the same end; the shorter of the two limits applies.
  package func close(within limit: Duration) async {
    let deadline = MonotonicTime.now() + max(.zero, limit)
    credentials.close()
    await withCheckedContinuation { continuation in
      supervisor.close(pools, at: deadline) { continuation.resume() }
    }
  }

  package func reachability() -> [PushNetwork: Reachability] { pools.reachability() }

  package func connect(to network: PushNetwork) { pools.connect(to: network) }

  /// Returns the statistics of the connections by environment and credential, except those used
  /// only for broadcasts.
  package func statistics() -> [PoolStatistics] { pools.statistics() }

  /// Returns the access tokens of the service accounts.
  package func accessTokens() -> [AccessTokenStatistics] { credentials.accessTokens() }

  /// How far APNs' clock is ahead of `now`; zero unless APNs has reported a difference that matters.
  package var clockLead: Duration { credentials.clockLead }
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
    let provider = network.provider
    if payload.count > address.payloadLimit {
      return
        "the payload has \(payload.count) bytes; \(provider.name) takes \(address.payloadLimit)"
    }
    if case .registration = address {
      return provider == .fcm ? nil : "APNs has no registrations of FCM"
    }
    if provider == .fcm { return "FCM has neither device tokens nor channels" }
    let isPlain = headers.topic.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7f }
    guard isPlain, (1...255).contains(headers.topic.utf8.count) else {
      return "the topic is empty, too long, or holds characters that no bundle ID has"
    }
    return nil
  }
}
