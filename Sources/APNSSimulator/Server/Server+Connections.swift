import Glibc

/// Accepts, reads, flushes and drops connections.
extension Server {
  private static let handshakeMilliseconds = 10_000
  private static let lingerMilliseconds = 2_000

  func acceptConnections() {
    while true {
      switch listener.accept() {
      case .none: return
      case .exhausted:
        // Level-triggered polling would spin here until a descriptor is free again.
        Log.write("no descriptor is free: accepting pauses until a connection closes")
        poller.change(listener.socket, [], key: Key.listener)
        isListenerPaused = true
        return
      case .socket(let socket): welcome(socket)
      }
    }
  }

  private func welcome(_ socket: Int32) {
    let number = simulator.statistics.connectionsTotal + 1
    let options = simulator.options
    guard let stream = try? TLSStream(socket: socket, context: tls),
      let session = Session(
        maximumStreams: min(options.initialStreams, options.maximumStreams), callbacks: callbacks)
    else { return Log.write("connection \(number): no memory") }
    let connection = Connection(number: number, tls: stream, session: session)
    connections[number] = connection
    simulator.statistics.connectionsTotal = number
    simulator.statistics.connectionsOpen += 1
    poller.add(socket, connection.interest, key: Key.firstConnection + UInt64(number))
    let limit = MonotonicClock.milliseconds() + Self.handshakeMilliseconds
    timers.add(.drop(connection: number, onlyBeforeHandshake: true), at: limit)
    log("connection \(number): open")
  }

  func ready(_ connection: Connection, _ ready: Poller.Interest) {
    let isGone = connection.isBlackHole && !ready.isEmpty
    if isGone { return drop(connection) }
    if ready != .write { readRequests(of: connection) }
    markDirty(connection)
  }

  func readUnread() {
    if unread.isEmpty { return }
    let connections = unread
    unread.removeAll()
    for connection in connections where self.connections[connection.number] != nil {
      readRequests(of: connection)
      markDirty(connection)
    }
  }

  private func readRequests(of connection: Connection) {
    if connection.isBackedUp || connection.isBlackHole { return }
    let progress = unsafe connection.read(scratch: scratch)
    handleRequests(of: connection)
    switch progress {
    case .done: break
    case .more: unread.append(connection)
    case .ended: drop(connection)
    }
  }

  func markDirty(_ connection: Connection) {
    if connection.isDirty { return }
    connection.isDirty = true
    dirty.append(connection)
  }

  func flushDirty() {
    for connection in dirty {
      connection.isDirty = false
      if connections[connection.number] == nil { continue }
      let wasBackedUp = connection.isBackedUp
      let wasLingering = connection.isLingering
      if case .ended = connection.flush() {
        drop(connection)
        continue
      }
      // TLS may hold bytes that it read before the connection backed up; the poller does not report
      // them.
      if wasBackedUp, !connection.isBackedUp { unread.append(connection) }
      if connection.isLingering, !wasLingering { dropLater(connection) }
      updateInterest(of: connection)
    }
    dirty.removeAll(keepingCapacity: true)
  }

  private func dropLater(_ connection: Connection) {
    let limit = MonotonicClock.milliseconds() + Self.lingerMilliseconds
    timers.add(.drop(connection: connection.number, onlyBeforeHandshake: false), at: limit)
  }

  func updateInterest(of connection: Connection) {
    let interest: Poller.Interest =
      connection.isBlackHole ? .hangUp : connection.isBackedUp ? .write : [.read, .hangUp]
    if interest == connection.interest { return }
    connection.interest = interest
    let key = Key.firstConnection + UInt64(connection.number)
    poller.change(connection.tls.socket, interest, key: key)
  }

  func drop(_ connection: Connection) {
    guard connections.removeValue(forKey: connection.number) != nil else { return }
    simulator.statistics.connectionsOpen -= 1
    log("connection \(connection.number): closed")
    if isListenerPaused {
      isListenerPaused = false
      poller.change(listener.socket, .read, key: Key.listener)
    }
  }
}
