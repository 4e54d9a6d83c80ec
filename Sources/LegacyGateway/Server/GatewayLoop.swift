internal import Glibc
internal import RideCore
internal import SystemSupport

/// The life of the gateway's thread: sleep until something can move, move it, sleep again.
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
  /// Closed, both, once the gateway goes.
  private(set) var doors: Listeners?
  var connections: [Int: SenderConnection] = [:]
  var handshakes: PendingHandshakes
  /// Handshakes that were cut off since they were last reported.
  var evicted = 0
  var reportedEviction: ContinuousClock.Instant?
  /// Senders that have something to commit, in the order in which they came to it.
  var ready: [Int] = []
  var isCommitting = false
  /// Since when nothing can be committed, and when it is tried again.
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

  /// A peer that has gone must end a write with an error and not the process; OpenSSL writes without
  /// saying so to the system.
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

  /// Waits for what can move; the doors are looked at whenever they stand open.
  private func sleep() -> [SenderConnection] {
    var files = [pollfd(fd: mailbox.descriptor, events: Int16(POLLIN), revents: 0)]
    if let doors, acceptAgain == nil {
      files.append(pollfd(fd: doors.pushes.socket, events: Int16(POLLIN), revents: 0))
      files.append(pollfd(fd: doors.feedback.socket, events: Int16(POLLIN), revents: 0))
    }
    let first = files.count
    // Whoever waits for the desk is not polled: a peer that has hung up would wake the thread for
    // nothing, again and again.
    let polled = connections.values.filter { $0.interest != 0 }
    for connection in polled {
      files.append(pollfd(fd: connection.stream.socket, events: connection.interest, revents: 0))
    }
    _ = unsafe poll(&files, nfds_t(files.count), milliseconds)
    return zip(polled, files[first...]).compactMap { $1.revents != 0 ? $0 : nil }
  }

  /// Until the next deadline, rounded up; at most a minute.
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

  /// A place for a further connection, under a number of its own.
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
