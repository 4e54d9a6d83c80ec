internal import RideCore
internal import SystemSupport

/// Commits the pushes of all senders, and watches for APNs' verdicts on them.
///
/// The store answers through the loop's inbox, so that the loop never waits.
final class PushCommitter {
  private typealias Instant = ContinuousClock.Instant

  /// The number of pushes after which no further sender joins a transaction.
  private static let commitLimit = 500

  private let settings: GatewaySettings
  private let store: any LegacyPushStore
  private let inbox: Inbox<LoopMessage>
  private let notify: @Sendable (GatewayEvent) -> Void
  /// Senders with pushes to commit, in the order in which they became ready.
  private var ready: [Int] = []
  private(set) var isCommitting = false
  /// Since when commits have failed; `retryAt` is when the next one is tried.
  private var failingSince: Instant?
  private var retryAt: Instant?
  private var pending = PendingVerdicts()
  private var isQuerying = false
  private var nextQuery = ContinuousClock.now
  private var queryInterval: Duration = .milliseconds(100)
  private var isStopping = false

  init(
    _ settings: GatewaySettings, _ store: any LegacyPushStore, _ inbox: Inbox<LoopMessage>,
    _ notify: @escaping @Sendable (GatewayEvent) -> Void
  ) {
    self.settings = settings
    self.store = store
    self.inbox = inbox
    self.notify = notify
  }

  /// The time of the next commit or query; nil if none is due before the store answers.
  var deadline: ContinuousClock.Instant? {
    let commit = ready.isEmpty || isCommitting ? nil : retryAt
    let query = pending.isEmpty || isQuerying || isStopping ? nil : nextQuery
    return [commit, query].compactMap { $0 }.min()
  }

  /// Ends the retries after failed commits.
  func stop() { isStopping = true }

  /// Adds a sender that has pushes to commit.
  func add(_ number: Int) {
    if !ready.contains(number) { ready.append(number) }
  }

  /// Forgets the pushes of a sender that has disconnected.
  func forget(_ number: Int) { pending.forget(number) }

  // MARK: Commits

  /// Commits the pushes of all senders that have some, one transaction at a time.
  ///
  /// After a failure each transaction has only one sender, because one sender's data must not block
  /// all others.
  func commit(_ connections: [Int: SenderConnection], now: ContinuousClock.Instant) {
    if isCommitting || ready.isEmpty { return }
    if let retryAt, now < retryAt { return }
    retryAt = nil
    let limit = failingSince == nil ? Self.commitLimit : 1
    var frames: [LegacyFrame] = []
    var parts: [(connection: Int, count: Int)] = []
    while let number = ready.first, frames.isEmpty || frames.count < limit {
      ready.removeFirst()
      guard let connection = connections[number], var session = connection.sender,
        session.step == .commit
      else { continue }
      let batch = session.takeBatch()
      connection.sender = session
      frames += batch
      parts.append((number, batch.count))
    }
    if frames.isEmpty { return }
    isCommitting = true
    Task { [store, inbox, frames, parts] in
      let result: Result<[LegacyCommitResult], any Error>
      do { result = .success(try await store.take(frames)) } catch { result = .failure(error) }
      inbox.put(.committed(parts, result))
    }
  }

  /// Handles the store's answer to a commit; returns the connections that may continue.
  func committed(
    _ parts: [(connection: Int, count: Int)], _ result: Result<[LegacyCommitResult], any Error>,
    _ connections: [Int: SenderConnection], now: ContinuousClock.Instant
  ) -> [SenderConnection] {
    isCommitting = false
    var results: ArraySlice<LegacyCommitResult> = []
    switch result {
    case .success(let all):
      results = all[...]
      failingSince = nil
    case .failure(let error):
      if failingSince == nil { notify(.failed("pushes can't be committed: \(error)")) }
      failingSince = failingSince ?? now
      retryAt = now + .milliseconds(500)
    }
    var continuing: [SenderConnection] = []
    for (number, count) in parts {
      let own = results.prefix(count)
      results = results.dropFirst(count)
      guard let connection = connections[number], var session = connection.sender else { continue }
      if own.count == count {
        for (receipt, identifier) in session.committed(own) {
          pending.add(receipt, identifier: identifier, connection: number, now: now)
        }
      } else {
        session.putBack()
        if mustGiveUp(session, now: now) {
          if session.isGone { notify(.lost(peer: connection.peer, pushes: session.pending)) }
          session.giveUp()
        }
      }
      connection.sender = session
      continuing.append(connection)
    }
    if !pending.isEmpty {
      queryInterval = .milliseconds(100)
      nextQuery = min(nextQuery, now + queryInterval)
    }
    return continuing
  }

  /// Returns whether to stop retrying; a disconnected sender can't send again, so its pushes are
  /// retried for longer.
  private func mustGiveUp(_ session: SenderSession, now: Instant) -> Bool {
    let limit = session.isGone ? settings.keepLimit : settings.outageLimit
    return isStopping || failingSince.map { now - $0 >= limit } ?? false
  }

  // MARK: Verdicts

  /// Queries the ledger about the pushes of connected senders.
  func askForVerdicts(now: ContinuousClock.Instant) {
    if isQuerying || pending.isEmpty || isStopping || now < nextQuery { return }
    let asked = pending.next(2000, now: now)
    if asked.isEmpty { return }
    isQuerying = true
    Task { [store, inbox, asked] in
      let result: Result<[PushID: LegacyVerdict], any Error>
      do { result = .success(try await store.verdicts(on: asked)) } catch {
        result = .failure(error)
      }
      inbox.put(.verdicts(asked, result))
    }
  }

  /// Handles the ledger's verdicts; returns the connections whose session they end.
  func receive(
    _ asked: [LegacyReceipt], _ result: Result<[PushID: LegacyVerdict], any Error>,
    _ connections: [Int: SenderConnection], now: ContinuousClock.Instant
  ) -> [SenderConnection] {
    isQuerying = false
    let verdicts = (try? result.get()) ?? [:]
    // The interval doubles, up to a second, as long as there are no verdicts.
    queryInterval = verdicts.isEmpty ? min(queryInterval * 2, .seconds(1)) : .milliseconds(100)
    nextQuery = now + queryInterval
    return pending.record(asked, verdicts).compactMap { refused in
      guard let connection = connections[refused.connection], connection.phase == .open,
        var session = connection.sender
      else { return nil }
      session.refuse(refused.identifier)
      connection.sender = session
      return connection
    }
  }
}
