internal import Glibc
internal import RideCore
internal import SystemSupport

/// The gateway's event loop on its own thread: wait for events, handle them, wait again.
final class GatewayLoop {
  struct Listeners: Sendable {
    var pushes: Listener
    var feedback: Listener
    var tls: TLSContext
  }

  let settings: GatewaySettings
  let store: any LegacyPushStore
  let mailbox: LoopMailbox
  let notify: @Sendable (GatewayEvent) -> Void
  /// The listening sockets; nil, and both closed, after a stop.
  private(set) var doors: Listeners?
  var connections: [Int: SenderConnection] = [:]
  var handshakes: PendingHandshakes
  /// The number of handshakes cut off since the last report.
  var evicted = 0
  var reportedEviction: ContinuousClock.Instant?
  /// Senders with pushes to commit, in the order in which they became ready.
  var ready: [Int] = []
  var isCommitting = false
  /// Since when commits have failed; `commitAgain` is when the next one is tried.
  var failingSince: ContinuousClock.Instant?
  var commitAgain: ContinuousClock.Instant?
  var watch = PendingVerdicts()
  var isAsking = false
  var nextAsk = ContinuousClock.now
  var askInterval: Duration = .milliseconds(100)
  var scratch = [UInt8](repeating: 0, count: 16_384)
  var now = ContinuousClock.now
  var acceptAgain: ContinuousClock.Instant?
  var isFull = false
  private var count = 0
  private var leaveBy: ContinuousClock.Instant?

  init(
    _ settings: GatewaySettings, _ doors: Listeners, _ store: any LegacyPushStore,
    _ mailbox: LoopMailbox,
    _ notify: @escaping @Sendable (GatewayEvent) -> Void
  ) {
    self.settings = settings
    handshakes = PendingHandshakes(
      limit: settings.handshakeLimit, limitPerNetwork: settings.handshakeLimitPerPeer)
    self.doors = doors
    self.store = store
    self.mailbox = mailbox
    self.notify = notify
  }

  var isStopping: Bool { leaveBy != nil }

  func run() {
    Self.mutePipes()
    while !isDone {
      let awake = sleep()
      now = .now
      for post in mailbox.collect() { take(post) }
      for connection in awake { move(connection) }
      if let doors, !isStopping { accept(doors) }
      for connection in connections.values { expire(connection) }
      commit()
      ask()
    }
    for connection in Array(connections.values) { drop(connection, "the gateway stopped") }
  }

  /// Blocks SIGPIPE, because OpenSSL writes without MSG_NOSIGNAL.
  ///
  /// A peer that has disconnected must cause a write error, not the end of the process.
  private static func mutePipes() {
    var signals = sigset_t()
    unsafe sigemptyset(&signals)
    unsafe sigaddset(&signals, SIGPIPE)
    unsafe pthread_sigmask(SIG_BLOCK, &signals, nil)
  }

  private var isDone: Bool {
    guard let leaveBy else { return false }
    return now >= leaveBy || (connections.isEmpty && !isCommitting)
  }

  func stop() {
    if isStopping { return }
    leaveBy = now + settings.stopLimit
    doors = nil
    for connection in Array(connections.values) {
      switch connection.talk {
      case .sender(var talk):
        talk.shutDown()
        connection.talk = .sender(talk)
      case .feedback(var talk):
        talk.shutDown()
        connection.talk = .feedback(talk)
      }
      if connection.phase == .handshake { drop(connection, "the gateway stops") }
      step(connection)
    }
  }

  /// Waits for events; listening sockets are polled while they are open, except during a pause.
  private func sleep() -> [SenderConnection] {
    var files = [pollfd(fd: mailbox.descriptor, events: Int16(POLLIN), revents: 0)]
    if let doors, acceptAgain == nil {
      files.append(pollfd(fd: doors.pushes.socket, events: Int16(POLLIN), revents: 0))
      files.append(pollfd(fd: doors.feedback.socket, events: Int16(POLLIN), revents: 0))
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
    var moments = connections.values.compactMap(\.deadline)
    if let leaveBy { moments.append(leaveBy) }
    if let acceptAgain { moments.append(acceptAgain) }
    if let commitAgain, !ready.isEmpty, !isCommitting { moments.append(commitAgain) }
    if !watch.isEmpty, !isAsking { moments.append(nextAsk) }
    guard let first = moments.min() else { return 60_000 }
    let wait = min(max(first - .now, .zero), .seconds(60))
    return Int32((wait / .milliseconds(1)).rounded(.up))
  }

  /// Adds a connection under a new number.
  func admit(
    _ socket: Int32, _ peer: String, _ network: PeerNetwork, _ tls: TLSContext,
    _ talk: (Int) -> SenderConnection.Talk
  ) {
    guard let stream = TLSStream(socket: socket, context: tls) else { return }
    count += 1
    connections[count] = SenderConnection(
      number: count, peer: peer, stream: stream, talk: talk(count), now: now,
      until: now + settings.handshakeTime)
    handshakes.add(count, from: network)
  }
}
