internal import Glibc
internal import RideCore
internal import SystemSupport

/// A message for the gateway's thread: an answer of the store, or a request to stop.
enum LoopMessage: Sendable {
  /// The result of committing pushes, with the number of pushes of each connection.
  case committed([(connection: Int, count: Int)], Result<[LegacyCommitResult], any Error>)
  /// The verdicts on the pushes that were asked about.
  case verdicts([LegacyReceipt], Result<[PushID: LegacyVerdict], any Error>)
  /// The phones to report on a connection of the feedback port.
  case phones(connection: Int, Result<[DisabledPhone], any Error>)
  /// The result of recording phones as reported.
  case recorded(connection: Int, Result<Void, any Error>)
  /// Finish and end.
  case stop
}

/// The gateway's event loop on its own thread: wait for events, handle them, wait again.
final class GatewayLoop {
  private let settings: GatewaySettings
  private let inbox: Inbox<LoopMessage>
  private let notify: @Sendable (GatewayEvent) -> Void
  private let acceptor: ConnectionAcceptor
  private let committer: PushCommitter
  private let reporter: FeedbackReporter
  private var connections: [Int: SenderConnection] = [:]
  private var scratch = [UInt8](repeating: 0, count: 16_384)
  private var now = ContinuousClock.now
  private var leaveBy: ContinuousClock.Instant?

  init(
    _ settings: GatewaySettings, _ listeners: ConnectionAcceptor.Listeners,
    _ store: any LegacyPushStore, _ inbox: Inbox<LoopMessage>,
    _ notify: @escaping @Sendable (GatewayEvent) -> Void
  ) {
    self.settings = settings
    self.inbox = inbox
    self.notify = notify
    acceptor = ConnectionAcceptor(settings, listeners, notify)
    committer = PushCommitter(settings, store, inbox, notify)
    reporter = FeedbackReporter(app: settings.app, store: store, inbox: inbox, notify: notify)
  }

  func run() {
    while !isDone {
      let ready = sleep()
      now = .now
      for message in inbox.collect() { handle(message) }
      for connection in ready { handleReady(connection) }
      for removed in acceptor.accept(into: &connections, now: now) {
        removed.ending = "evicted: idle longest"
        report(removed)
      }
      for connection in connections.values { expire(connection) }
      committer.commit(connections, now: now)
      committer.askForVerdicts(now: now)
    }
    for connection in Array(connections.values) { drop(connection, "the gateway stopped") }
  }

  private var isDone: Bool {
    guard let leaveBy else { return false }
    return now >= leaveBy || (connections.isEmpty && !committer.isCommitting)
  }

  private func handle(_ message: LoopMessage) {
    switch message {
    case .committed(let parts, let result):
      for connection in committer.committed(parts, result, connections, now: now) {
        // TLS may hold bytes that it has already read; the socket does not report them.
        connection.read(into: &scratch, now: now)
        step(connection)
      }
    case .verdicts(let asked, let result):
      for connection in committer.receive(asked, result, connections, now: now) {
        step(connection)
      }
    case .phones(let number, let result):
      guard let connection = connections[number] else { return }
      reporter.receive(result, for: connection)
      connection.deadline = now + settings.patience
      guard connection.flush(now: now) else { return drop(connection, "the peer hung up") }
      step(connection)
    case .recorded(let number, let result):
      guard let connection = connections[number] else { return }
      reporter.recorded(result, for: connection)
      step(connection)
    case .stop: stop()
    }
  }

  private func stop() {
    if leaveBy != nil { return }
    leaveBy = now + settings.stopLimit
    acceptor.stop()
    committer.stop()
    for connection in Array(connections.values) {
      connection.shutDown()
      if connection.phase == .handshake { drop(connection, "the gateway stops") }
      step(connection)
    }
  }

  // MARK: Waiting

  /// Waits for events; returns the connections that are ready.
  private func sleep() -> [SenderConnection] {
    var files = [pollfd(fd: inbox.descriptor, events: Int16(POLLIN), revents: 0)]
    for socket in acceptor.sockets {
      files.append(pollfd(fd: socket, events: Int16(POLLIN), revents: 0))
    }
    let first = files.count
    // A connection that waits for the store is not polled: a peer that has hung up would wake the
    // thread again and again for nothing.
    let polled = connections.values.filter { $0.interest != 0 }
    for connection in polled {
      files.append(pollfd(fd: connection.stream.socket, events: connection.interest, revents: 0))
    }
    _ = unsafe poll(&files, nfds_t(files.count), milliseconds)
    return zip(polled, files[first...]).compactMap { $1.revents != 0 ? $0 : nil }
  }

  /// The time until the next deadline in milliseconds, rounded up; at most a minute.
  private var milliseconds: Int32 {
    let deadlines =
      connections.values.map(\.deadline) + [leaveBy, acceptor.resumesAt, committer.deadline]
    guard let first = deadlines.compactMap({ $0 }).min() else { return 60_000 }
    let wait = min(max(first - .now, .zero), .seconds(60))
    return Int32((wait / .milliseconds(1)).rounded(.up))
  }

  // MARK: Connections

  /// Handles a socket that is ready.
  private func handleReady(_ connection: SenderConnection) {
    guard connections[connection.number] === connection else { return }
    switch connection.phase {
    case .handshake: continueHandshake(connection)
    case .open, .closing:
      if connection.hasOutput {
        guard connection.flush(now: now) else { return drop(connection, "the peer hung up") }
        connection.deadline = now + settings.patience
      } else {
        connection.read(into: &scratch, now: now)
      }
      step(connection)
    case .lingering:
      if !connection.stream.discard(into: &scratch) { drop(connection) }
    }
  }

  private func continueHandshake(_ connection: SenderConnection) {
    do throws(SenderConnection.HandshakeFailure) {
      guard try connection.continueHandshake() else { return }
      if settings.clientCA != nil,
        connection.stream.peerSubject?.names(settings.bundleID) != true
      {
        throw SenderConnection.HandshakeFailure(
          reason: "its certificate is not for \(settings.bundleID)")
      }
    } catch {
      return reject(connection, error.reason)
    }
    acceptor.handshakeEnded(connection.number)
    connection.phase = .open
    connection.deadline = nil
    // The first frames may have arrived with the end of the handshake.
    connection.read(into: &scratch, now: now)
    step(connection)
  }

  private func reject(_ connection: SenderConnection, _ reason: String) {
    notify(.turnedAway(peer: connection.peer, reason: reason))
    connections[connection.number] = nil
    acceptor.handshakeEnded(connection.number)
  }

  /// Performs the session's next step.
  private func step(_ connection: SenderConnection) {
    guard connections[connection.number] === connection, connection.phase == .open else {
      return finish(connection)
    }
    switch connection.session {
    case .sender(let session): step(connection, session)
    case .feedback(let session):
      if !reporter.step(connection, session) { close(connection) }
    }
  }

  private func step(_ connection: SenderConnection, _ session: SenderSession) {
    switch session.step {
    case .read:
      // The limit counts from the start of the frame, not from its last byte.
      connection.deadline =
        session.hasPartialFrame ? connection.deadline ?? now + settings.patience : nil
    case .wait: connection.deadline = nil
    case .commit:
      connection.deadline = nil
      committer.add(connection.number)
    case .end(let packet):
      connection.ending = packet.map { "status \($0.status.rawValue)" } ?? connection.ending
      connection.send(packet?.bytes ?? [])
      close(connection)
    }
  }

  private func close(_ connection: SenderConnection) {
    connection.phase = .closing
    connection.deadline = now + settings.patience
    guard connection.flush(now: now) else { return drop(connection, "the peer hung up") }
    finish(connection)
  }

  private func finish(_ connection: SenderConnection) {
    guard connection.phase == .closing, !connection.hasOutput else { return }
    connection.stream.sendClose()
    connection.phase = .lingering
    connection.deadline = now + settings.lingerLimit
    report(connection)
  }

  private func expire(_ connection: SenderConnection) {
    guard let deadline = connection.deadline, deadline <= now else { return }
    switch connection.phase {
    case .handshake: reject(connection, "the handshake took too long")
    case .open: drop(connection, "timeout: incomplete frame or slow reader")
    case .closing: drop(connection, "timeout while closing")
    case .lingering: drop(connection)
    }
  }

  /// Closes a connection without further output.
  private func drop(_ connection: SenderConnection, _ how: String? = nil) {
    guard connections.removeValue(forKey: connection.number) != nil else { return }
    acceptor.handshakeEnded(connection.number)
    committer.forget(connection.number)
    if connection.phase == .lingering { return }
    connection.ending = how ?? connection.ending
    report(connection)
  }

  /// Emits the event of a connection that has ended.
  private func report(_ connection: SenderConnection) {
    committer.forget(connection.number)
    switch connection.session {
    case .sender(let session):
      if session.isGone, session.pending > 0 {
        notify(.lost(peer: connection.peer, pushes: session.pending))
      }
      notify(
        .senderEnded(
          peer: connection.peer, pushes: session.committedCount, repeats: session.repeats,
          how: connection.ending ?? "the sender hung up"))
    case .feedback(let session):
      notify(.feedbackRead(peer: connection.peer, phones: session.reported))
    }
  }
}
