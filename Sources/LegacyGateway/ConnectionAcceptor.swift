internal import RideCore
internal import SystemSupport

/// Accepts connections, and evicts others if there are too many.
final class ConnectionAcceptor {
  private typealias Instant = ContinuousClock.Instant

  struct Listeners: Sendable {
    var pushes: Listener
    var feedback: Listener
    var tls: TLSContext
  }

  private let settings: GatewaySettings
  private let notify: @Sendable (GatewayEvent) -> Void
  /// Nil, and both sockets closed, after a stop.
  private var listeners: Listeners?
  private var handshakes: PendingHandshakes
  private var accepted = 0
  /// The number of handshakes cut off since the last report.
  private var evicted = 0
  private var reportedEviction: Instant?
  private var isFull = false

  /// The end of the pause during which no connection is accepted; nil if there is none.
  private(set) var resumesAt: ContinuousClock.Instant?

  init(
    _ settings: GatewaySettings, _ listeners: Listeners,
    _ notify: @escaping @Sendable (GatewayEvent) -> Void
  ) {
    self.settings = settings
    self.listeners = listeners
    self.notify = notify
    handshakes = PendingHandshakes(
      limit: settings.handshakeLimit, limitPerNetwork: settings.handshakeLimitPerPeer)
  }

  /// The sockets to poll for reading: none during a pause.
  var sockets: [Int32] {
    guard let listeners, resumesAt == nil else { return [] }
    return [listeners.pushes.socket, listeners.feedback.socket]
  }

  /// Closes the listening sockets.
  func stop() {
    listeners = nil
    resumesAt = nil
  }

  /// Records that a handshake is complete, or that its connection is closed.
  func handshakeEnded(_ number: Int) {
    handshakes.remove(number)
  }

  /// Adds the connections that have arrived; returns those that were removed to make room.
  ///
  /// The number is limited, so that earlier connections make progress with their handshakes.
  func accept(
    into connections: inout [Int: SenderConnection], now: ContinuousClock.Instant
  ) -> [SenderConnection] {
    guard let listeners else { return [] }
    if let resumesAt, now < resumesAt { return [] }
    resumesAt = nil
    var removed: [SenderConnection] = []
    for listener in [listeners.pushes, listeners.feedback] {
      for _ in 0..<Self.arrivalsAtOnce {
        guard listener.hasArrival, makeRoom(in: &connections, &removed, now: now) else { break }
        guard case .socket(let socket, let peer, let network) = arrival(at: listener, now: now)
        else { break }
        if let number = handshakes.surplus(before: network) {
          evict(number, from: &connections, now: now)
        }
        guard let stream = TLSStream(socket: socket, context: listeners.tls) else { continue }
        accepted += 1
        connections[accepted] = SenderConnection(
          number: accepted, peer: peer, stream: stream,
          session: listener === listeners.pushes
            ? .sender(SenderSession(app: settings.app, sender: accepted))
            : .feedback(FeedbackSession()),
          now: now, until: now + settings.handshakeTime)
        handshakes.add(accepted, from: network)
      }
    }
    return removed
  }

  private static let arrivalsAtOnce = 32

  private func arrival(at listener: Listener, now: Instant) -> Listener.Arrival {
    let arrival = listener.accept()
    if case .exhausted = arrival {
      notify(.failed("no descriptor is free for a further connection"))
      resumesAt = now + .seconds(1)
    }
    return arrival
  }

  /// Cuts off a connection whose handshake is incomplete.
  ///
  /// Evictions are counted and reported at most every ten seconds, because a flood must not fill
  /// the log.
  private func evict(
    _ number: Int, from connections: inout [Int: SenderConnection], now: Instant
  ) {
    connections[number] = nil
    handshakes.remove(number)
    evicted += 1
    if let last = reportedEviction, now - last < .seconds(10) { return }
    reportedEviction = now
    notify(.handshakesEvicted(evicted))
    evicted = 0
  }

  /// Returns whether a connection may be accepted.
  ///
  /// At the connection limit an incomplete handshake is evicted or, failing that, a sender that has
  /// been silent for long is removed; otherwise new connections wait to be accepted.
  private func makeRoom(
    in connections: inout [Int: SenderConnection], _ removed: inout [SenderConnection],
    now: Instant
  ) -> Bool {
    if connections.count < settings.connectionLimit {
      isFull = false
      return true
    }
    if let number = handshakes.oldestOfLargest {
      evict(number, from: &connections, now: now)
      return true
    }
    let quiet = connections.values.filter { connection in
      connection.phase == .open && connection.sender?.step == .read
        && now - connection.lastReceived > settings.idleLimit
    }
    if let longest = quiet.min(by: { $0.lastReceived < $1.lastReceived }) {
      connections[longest.number] = nil
      removed.append(longest)
      return true
    }
    if !isFull { notify(.full(settings.connectionLimit)) }
    isFull = true
    resumesAt = now + .milliseconds(200)
    return false
  }
}

/// The connections with an incomplete handshake, in order of arrival, and which to evict if there
/// are too many.
///
/// Any host can begin a handshake, so incomplete ones never block other connections: the oldest one
/// of the network that has the most is evicted.
struct PendingHandshakes {
  private var networks: [Int: PeerNetwork] = [:]
  /// By network, in order of arrival.
  private var numbers: [PeerNetwork: [Int]] = [:]
  private let limit: Int
  private let limitPerNetwork: Int

  /// - Parameters:
  ///   - limit: The maximum in total.
  ///   - limitPerNetwork: The maximum from one network.
  init(limit: Int, limitPerNetwork: Int) {
    self.limit = max(1, limit)
    self.limitPerNetwork = max(1, limitPerNetwork)
  }

  var count: Int { networks.count }

  /// Adds a connection; numbers must increase.
  mutating func add(_ number: Int, from network: PeerNetwork) {
    networks[number] = network
    numbers[network, default: []].append(number)
  }

  /// Removes a connection whose handshake is complete or that is closed.
  mutating func remove(_ number: Int) {
    guard let network = networks.removeValue(forKey: number) else { return }
    numbers[network]?.removeAll { $0 == number }
    if numbers[network]?.isEmpty == true { numbers[network] = nil }
  }

  /// Returns the connection to evict before a network adds one more; nil if there is room.
  func surplus(before network: PeerNetwork) -> Int? {
    if let own = numbers[network], own.count >= limitPerNetwork { return own.first }
    return count >= limit ? oldestOfLargest : nil
  }

  /// The oldest connection of the network that has the most; of several such networks, the one that
  /// came first.
  var oldestOfLargest: Int? {
    numbers.values.max { ($0.count, $1.first ?? 0) < ($1.count, $0.first ?? 0) }?.first
  }
}
