/// One client: its TLS stream, its HTTP/2 session and its state.
final class Connection {
  enum Progress {
    case done
    /// More bytes may be available; read again without waiting for the poller.
    case more
    case ended(CloseReason)
  }

  /// The number of reads before other connections get their turn.
  private static let readsPerTurn = 16

  let number: Int
  let peer: any Peer
  let tls: TLSStream
  private(set) var session: any Session
  private let initialStreams: Int
  /// True if the connection no longer reads, answers or acknowledges anything.
  var isBlackHole = false
  /// True if the next flush ends the connection without sending its output.
  var isClosing = false
  /// True if it is in the server's list of connections to flush.
  var isDirty = false
  /// The interest last passed to the poller.
  var interest: Poller.Interest = [.read, .hangUp]
  /// True while the client does not read its answers; nothing is read from it until it does.
  private(set) var isBackedUp = false
  /// True after the last output, while waiting for the client to close: closing first could cut off
  /// the end of the output.
  private(set) var isLingering = false
  private var output = OutputBuffer()
  /// True once the TLS handshake is complete.
  private(set) var isEstablished = false

  init(
    number: Int, peer: any Peer, tls: TLSStream, session: any Session, initialStreams: Int
  ) {
    self.number = number
    self.peer = peer
    self.tls = tls
    self.session = session
    self.initialStreams = initialStreams
  }

  /// Reads into the session; complete requests are then in its table.
  func read(scratch: UnsafeMutableRawBufferPointer) -> Progress {
    for _ in 0..<Self.readsPerTurn {
      let outcome = unsafe tls.read(into: scratch)
      completeHandshake()
      switch outcome {
      case .bytes(let count):
        if isLingering { continue }
        let bytes = unsafe UnsafeRawBufferPointer(rebasing: scratch[..<count])
        if let error = unsafe session.receive(bytes) { return .ended(.violation(error)) }
      case .wantsRead, .wantsWrite: return .done
      case .ended: return .ended(ending())
      case .broken(let error): return .ended(.failure(error))
      case .failed(let error): return .ended(failure(error))
      }
    }
    return .more
  }

  /// Sends the session's output as far as the client accepts it.
  func flush() -> Progress {
    if isClosing { return .ended(.fault) }
    guard isEstablished, !isBlackHole, !isLingering else { return .done }
    while true {
      while !output.isFull {
        let written = session.write(to: &output)
        if written == .failed { return .ended(.violation("the session can't be continued")) }
        if written == .none { break }
      }
      if output.isEmpty { return finish() }
      switch unsafe output.withNextRecord({ unsafe tls.write($0) }) {
      case .bytes(let count): output.markSent(count)
      case .wantsWrite, .wantsRead:
        isBackedUp = true
        return .done
      case .ended: return .ended(ending())
      case .broken(let error): return .ended(.failure(error))
      case .failed(let error): return .ended(failure(error))
      }
    }
  }

  private func finish() -> Progress {
    isBackedUp = false
    if session.isOver {
      isLingering = true
      tls.sendClose()
    }
    return .done
  }

  private func completeHandshake() {
    if isEstablished || !tls.isEstablished { return }
    isEstablished = true
    if tls.speaksHTTP1 { session = HTTP1Session() }
    let limit = peer.authenticated(with: tls.peerCertificate) ?? initialStreams
    session.begin(maximumStreams: !tls.speaksHTTP1 && peer.omitsSettings() ? nil : limit)
  }

  /// Returns why the connection ends if TLS did not fail.
  func ending() -> CloseReason {
    // A GOAWAY of nghttp2's may still wait to be sent.
    while isEstablished, session.write(to: &output) == .some {}
    if let goAway = session.streams.sentGoAway { return .goAway(goAway) }
    return isEstablished ? .client(session.streams.receivedGoAway) : .handshakeLeft
  }

  private func failure(_ error: String) -> CloseReason {
    if isLingering { return ending() }
    return isEstablished ? .failure(error) : .handshakeFailed(error)
  }
}

/// Why a connection was closed.
enum CloseReason: Equatable, CustomStringConvertible {
  /// The client closed it, perhaps with a GOAWAY.
  case client(GoAway?)
  case handshakeLeft
  case handshakeFailed(String)
  case handshakeTimeout(seconds: Int)
  /// The socket failed, or TLS after the handshake.
  case failure(String)
  /// The client does not speak the protocol.
  case violation(String)
  /// After the simulator's GOAWAY: a fault's, or nghttp2's to a client that violates the protocol.
  case goAway(GoAway)
  case fault
  /// A fault stopped the answers, and the client gave up.
  case blackHole

  var description: String {
    switch self {
    case .client(nil): "closed by the client"
    case .client(let goAway?): "closed by the client with \(goAway.description)"
    case .handshakeLeft: "closed by the client in the TLS handshake"
    case .handshakeFailed(let error): "TLS handshake failed: \(error)"
    case .handshakeTimeout(let seconds): "no TLS handshake within \(seconds) s"
    case .failure(let error): "connection failed: \(error)"
    case .violation(let error): error
    case .goAway(let goAway): "closed after \(goAway.description)"
    case .fault: "closed by a fault"
    case .blackHole: "closed by the client, which a fault does not answer"
    }
  }

  /// True if the client made a mistake, which the log has in quiet mode, too.
  var isMistake: Bool {
    switch self {
    case .handshakeFailed, .handshakeTimeout, .violation: true
    case .goAway(let goAway): goAway.code != 0
    case .client, .handshakeLeft, .failure, .fault, .blackHole: false
    }
  }
}

/// Frames waiting for TLS records: appended at the end, sent from the front.
struct OutputBuffer {
  /// The largest TLS record: smaller writes would cost more system calls, larger ones would be
  /// split.
  static let recordBytes = 16_384

  private var bytes: [UInt8] = []
  private var sent = 0

  var isEmpty: Bool { sent == bytes.count }
  var isFull: Bool { bytes.count - sent >= Self.recordBytes }

  mutating func append(_ more: UnsafeBufferPointer<UInt8>) {
    unsafe bytes.append(contentsOf: more)
  }

  func withNextRecord<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
    unsafe bytes.withUnsafeBytes { all in
      let end = min(all.count, sent + Self.recordBytes)
      return unsafe body(UnsafeRawBufferPointer(rebasing: all[sent..<end]))
    }
  }

  mutating func markSent(_ count: Int) {
    sent += count
    if sent == bytes.count {
      bytes.removeAll(keepingCapacity: true)
      sent = 0
    }
  }
}
