import Glibc

/// The event loop: one thread, one turn per `epoll_wait`.
///
/// Each turn reads and decides all that is readable, then hands the records to the kernel, then
/// sends the answers.
@safe final class Server {
  enum Key {
    static let listener: UInt64 = 0
    static let signals: UInt64 = 1
    static let standardInput: UInt64 = 2
    static let faults: UInt64 = 3
    static let firstConnection: UInt64 = 16
  }

  enum TimedEvent {
    case steps([Decision.Step], stream: Int32, connection: Int)
    case acceptance(stream: Int32, connection: Int)
    case drop(connection: Int, onlyBeforeHandshake: Bool)
  }

  let simulator: Simulator
  let poller: Poller
  let listener: Listener
  let tls: TLSContext
  let callbacks: SessionCallbacks
  let acceptance = Acceptance()
  let faultFile: FaultFile?
  let scratch: UnsafeMutableRawBufferPointer
  var connections: [Int: Connection] = [:]
  var timers = Timers<TimedEvent>()
  /// Connections that may have output at the end of the turn.
  var dirty: [Connection] = []
  /// Connections that were not read to their end in the last turn.
  var unread: [Connection] = []
  var isListenerPaused = false
  private let signals: StopSignals
  private var isStopping = false

  var port: UInt16 { listener.port }

  init(simulator: Simulator, tls: TLSContext, faultFile: FaultFile?) throws {
    guard let callbacks = SessionCallbacks(isSink: simulator.options.isSink) else {
      throw OpenSSLError("nghttp2_session_callbacks_new")
    }
    self.simulator = simulator
    self.tls = tls
    self.callbacks = callbacks
    self.faultFile = faultFile
    unsafe scratch = .allocate(byteCount: OutputBuffer.recordBytes, alignment: 16)
    signals = try StopSignals()
    poller = try Poller()
    listener = try Listener(port: simulator.options.port)
    poller.add(listener.socket, .read, key: Key.listener)
    poller.add(signals.descriptor, .read, key: Key.signals)
    if let faultFile { poller.add(faultFile.watch, .read, key: Key.faults) }
    if simulator.options.exitsWithStandardInput,
      !poller.add(STDIN_FILENO, .read, key: Key.standardInput)
    {
      // Standard input is not pollable: a file or /dev/null, which has no writer to wait for.
      isStopping = true
    }
  }

  deinit {
    unsafe scratch.deallocate()
  }

  func run() {
    while !isStopping {
      let events = poller.wait(timeoutMilliseconds: timeout())
      // Faults come first: a client that writes the file and then sends a push expects the new
      // faults.
      for event in events where event.key < Key.firstConnection { service(event.key) }
      for event in events where event.key >= Key.firstConnection {
        connections[Int(event.key - Key.firstConnection)].map { ready($0, event.ready) }
      }
      readUnread()
      fireTimers()
      simulator.flushRecords()
      flushDirty()
    }
    simulator.flushRecords()
  }

  private func timeout() -> Int? {
    if !unread.isEmpty { return 0 }
    return timers.nextDeadline.map { $0 - MonotonicClock.milliseconds() }
  }

  private func service(_ key: UInt64) {
    switch key {
    case Key.listener: acceptConnections()
    case Key.signals: isStopping = true
    case Key.standardInput: readStandardInput()
    default: rereadFaults()
    }
  }

  private func readStandardInput() {
    var bytes = [UInt8](repeating: 0, count: 4096)
    if unsafe read(STDIN_FILENO, &bytes, bytes.count) <= 0 { isStopping = true }
  }

  private func rereadFaults() {
    guard let faultFile else { return }
    faultFile.drainWatch()
    do {
      let faults = FaultSet(try faultFile.read())
      simulator.faults = faults
      log("\(faultFile.path): \(faults.count) faults in force")
    } catch {
      Log.write("\(error); the old faults stay")
    }
  }

  func log(_ text: String) {
    if !simulator.options.isQuiet { Log.write(text) }
  }
}
