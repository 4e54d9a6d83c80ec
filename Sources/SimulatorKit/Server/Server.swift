import Glibc

/// The event loop: one thread, one turn per `epoll_wait`.
///
/// Each turn reads and decides all that is readable, then hands the records to the kernel, then
/// sends the answers.
@safe package final class Server {
  private enum Key {
    static let listener: UInt64 = 0
    static let signals: UInt64 = 1
    static let standardInput: UInt64 = 2
    static let web: UInt64 = 3
    static let firstFile: UInt64 = 4
    static let firstConnection: UInt64 = 16
    /// Added to the number of a visitor of the web port.
    static let firstVisitor: UInt64 = 1 << 48
  }

  private enum Timeout {
    case handshake(connection: Int)
    case linger(connection: Int)
  }

  private static let handshakeMilliseconds = 10_000
  private static let lingerMilliseconds = 2_000

  private let service: any Service
  private let settings: ServerSettings
  private let handler: RequestHandler
  private let poller: Poller
  private let listener: Listener
  private let tls: TLSContext
  private let callbacks: SessionCallbacks
  private let files: [WatchedFile]
  private let web: WebPort?
  private let scratch: UnsafeMutableRawBufferPointer
  private var connections: [Int: Connection] = [:]
  private var timeouts = Timers<Timeout>()
  /// Connections that may have output at the end of the turn.
  private var dirty: [Connection] = []
  /// Connections that were not read to their end in the last turn.
  private var unread: [Connection] = []
  private var isListenerPaused = false
  private let signals: StopSignals
  private var isStopping = false

  package var port: UInt16 { listener.port }

  /// - Parameters:
  ///   - files: files that are read again when they change; at most a dozen.
  ///   - web: a port that the same loop serves.
  package init(
    service: any Service, settings: ServerSettings, tls: TLSContext, files: [WatchedFile],
    web: WebPort? = nil
  ) throws {
    let callbacks = SessionCallbacks(
      isSink: settings.sinkHeader != nil, refusesIdlePings: settings.refusesIdlePings)
    guard let callbacks else {
      throw OpenSSLError("nghttp2_session_callbacks_new")
    }
    self.service = service
    self.settings = settings
    handler = RequestHandler(service: service, settings: settings)
    self.tls = tls
    self.callbacks = callbacks
    self.files = files
    self.web = web
    unsafe scratch = .allocate(byteCount: OutputBuffer.recordBytes, alignment: 16)
    signals = try StopSignals()
    poller = try Poller()
    listener = try Listener(.loopback(settings.port))
    poller.add(listener.socket, .read, key: Key.listener)
    poller.add(signals.descriptor, .read, key: Key.signals)
    web?.join(poller, listenerKey: Key.web, firstKey: Key.firstVisitor)
    for (index, file) in files.enumerated() {
      poller.add(file.watch, .read, key: Key.firstFile + UInt64(index))
    }
    if settings.exitsWithStandardInput,
      !poller.add(STDIN_FILENO, .read, key: Key.standardInput)
    {
      // Standard input is not pollable: a file or /dev/null, which has no writer to wait for.
      isStopping = true
    }
  }

  deinit {
    unsafe scratch.deallocate()
  }

  package func run() {
    while !isStopping {
      let events = poller.wait(timeoutMilliseconds: timeout())
      // Files come first: a client that writes one and then sends a push expects the new settings.
      for event in events where event.key < Key.firstConnection { handleServerEvent(event.key) }
      for event in events where event.key >= Key.firstVisitor {
        unsafe web?.handle(event.key, event.ready, scratch: scratch)
      }
      for event in events where (Key.firstConnection..<Key.firstVisitor).contains(event.key) {
        connections[Int(event.key - Key.firstConnection)].map { handle($0, event.ready) }
      }
      readUnread()
      for connection in handler.sendDue(in: connections) { markDirty(connection) }
      dropTimedOut()
      service.flushRecords()
      web?.resume()
      flushDirty()
    }
    service.flushRecords()
  }

  private func timeout() -> Int? {
    if !unread.isEmpty { return 0 }
    let next = [timeouts.nextDeadline, handler.nextDeadline, web?.nextDeadline].compactMap(\.self)
      .min()
    return next.map { $0 - MonotonicClock.milliseconds() }
  }

  private func handleServerEvent(_ key: UInt64) {
    switch key {
    case Key.listener: acceptConnections()
    case Key.signals: isStopping = true
    case Key.standardInput: readStandardInput()
    case Key.web: web?.accept()
    default: files[Int(key - Key.firstFile)].changed()
    }
  }

  private func readStandardInput() {
    var bytes = [UInt8](repeating: 0, count: 4096)
    if unsafe read(STDIN_FILENO, &bytes, bytes.count) <= 0 { isStopping = true }
  }

  private func log(_ text: String) {
    if !settings.isQuiet { Log.write(text) }
  }

  private func acceptConnections() {
    while true {
      switch listener.accept() {
      case .none: return
      case .exhausted:
        // Level-triggered polling would spin here until a descriptor is free again.
        Log.write("no descriptor is free: accepting pauses until a connection closes")
        poller.change(listener.socket, [], key: Key.listener)
        isListenerPaused = true
        return
      case .socket(let socket): openConnection(socket)
      }
    }
  }

  private func openConnection(_ socket: Int32) {
    let number = service.statistics.connectionsTotal + 1
    guard let stream = try? TLSStream(socket: socket, context: tls),
      let session = HTTP2Session(callbacks: callbacks)
    else { return Log.write("connection \(number): no memory") }
    let connection = Connection(
      number: number, peer: service.peer(connection: number), tls: stream, session: session,
      initialStreams: settings.initialStreams)
    connections[number] = connection
    service.statistics.connectionsTotal = number
    service.statistics.connectionsOpen += 1
    poller.add(socket, connection.interest, key: Key.firstConnection + UInt64(number))
    let limit = MonotonicClock.milliseconds() + Self.handshakeMilliseconds
    timeouts.add(.handshake(connection: number), at: limit)
    log("connection \(number): open")
  }

  private func handle(_ connection: Connection, _ ready: Poller.Interest) {
    if connection.isBlackHole, !ready.isEmpty { return drop(connection, .blackHole) }
    if ready != .write { readRequests(of: connection) }
    markDirty(connection)
  }

  private func readUnread() {
    if unread.isEmpty { return }
    let connections = unread
    unread.removeAll()
    for connection in connections where self.connections[connection.number] != nil {
      readRequests(of: connection)
      markDirty(connection)
    }
  }

  private func readRequests(of connection: Connection) {
    if connection.isBackedUp || connection.isBlackHole || connection.isClosing { return }
    let progress = unsafe connection.read(scratch: scratch)
    handler.handleRequests(of: connection)
    switch progress {
    case .done: break
    case .more: unread.append(connection)
    case .ended(let reason): drop(connection, reason)
    }
  }

  private func markDirty(_ connection: Connection) {
    if connection.isDirty { return }
    connection.isDirty = true
    dirty.append(connection)
  }

  private func flushDirty() {
    for connection in dirty {
      connection.isDirty = false
      if connections[connection.number] == nil { continue }
      let wasBackedUp = connection.isBackedUp
      let wasLingering = connection.isLingering
      if case .ended(let reason) = connection.flush() {
        drop(connection, reason)
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
    timeouts.add(.linger(connection: connection.number), at: limit)
  }

  private func dropTimedOut() {
    guard timeouts.nextDeadline != nil else { return }
    let now = MonotonicClock.milliseconds()
    while let timeout = timeouts.takeDue(at: now) {
      switch timeout {
      case .handshake(let number):
        if let connection = connections[number], !connection.isEstablished {
          drop(connection, .handshakeTimeout(seconds: Self.handshakeMilliseconds / 1000))
        }
      case .linger(let number):
        connections[number].map { drop($0, $0.ending()) }
      }
    }
  }

  private func updateInterest(of connection: Connection) {
    let interest: Poller.Interest =
      connection.isBlackHole ? .hangUp : connection.isBackedUp ? .write : [.read, .hangUp]
    if interest == connection.interest { return }
    connection.interest = interest
    let key = Key.firstConnection + UInt64(connection.number)
    poller.change(connection.tls.socket, interest, key: key)
  }

  private func drop(_ connection: Connection, _ reason: CloseReason) {
    guard connections.removeValue(forKey: connection.number) != nil else { return }
    service.statistics.connectionsOpen -= 1
    let line = "connection \(connection.number): \(reason)"
    if reason.isMistake { Log.write(line) } else { log(line) }
    if isListenerPaused {
      isListenerPaused = false
      poller.change(listener.socket, .read, key: Key.listener)
    }
  }
}
