internal import Glibc
internal import RideCore

/// One connection: its socket, its session and its deadline.
final class SenderConnection {
  enum Session {
    case sender(SenderSession)
    case feedback(FeedbackSession)
  }

  enum Phase: Equatable {
    case handshake
    case open
    /// The remaining output is written, then the connection is closed.
    case closing
    /// Closed on this side; received bytes are discarded.
    case lingering
  }

  typealias Instant = ContinuousClock.Instant

  let number: Int
  let peer: String
  let stream: TLSStream
  var session: Session
  var phase = Phase.handshake
  /// When the phase, the frame or the write must have progressed; nil if there is no limit.
  var deadline: Instant?
  var lastReceived: Instant
  /// How the connection ended, for the log.
  var ending: String?
  private var output: ArraySlice<UInt8> = []
  private var wantsWrite = false

  init(number: Int, peer: String, stream: TLSStream, session: Session, now: Instant, until: Instant)
  {
    self.number = number
    self.peer = peer
    self.stream = stream
    self.session = session
    lastReceived = now
    deadline = until
  }

  /// The session of a sender; nil on the feedback port.
  var sender: SenderSession? {
    get { if case .sender(let session) = session { session } else { nil } }
    set { if let newValue { session = .sender(newValue) } }
  }

  /// The session of a reader of the feedback port; nil on the port for pushes.
  var feedback: FeedbackSession? {
    get { if case .feedback(let session) = session { session } else { nil } }
    set { if let newValue { session = .feedback(newValue) } }
  }

  /// Begins the shutdown of the session.
  func shutDown() {
    switch session {
    case .sender(var session):
      session.shutDown()
      self.session = .sender(session)
    case .feedback(var session):
      session.shutDown()
      self.session = .feedback(session)
    }
  }

  var hasOutput: Bool { !output.isEmpty }

  /// The events to poll for; 0 if the store must answer first.
  var interest: Int16 {
    if wantsWrite || hasOutput { return Int16(POLLOUT) }
    switch phase {
    case .handshake, .lingering: return Int16(POLLIN)
    case .closing: return 0
    case .open:
      return sender?.hasRoom == true ? Int16(POLLIN) : 0
    }
  }

  /// Continues the handshake; returns true when it is complete.
  func continueHandshake() throws(HandshakeFailure) -> Bool {
    switch stream.handshake() {
    case .bytes:
      wantsWrite = false
      return true
    case .wantsRead: wantsWrite = false
    case .wantsWrite: wantsWrite = true
    case .ended: throw HandshakeFailure(reason: "the peer hung up during the handshake")
    case .failed(let reason): throw HandshakeFailure(reason: reason)
    }
    return false
  }

  struct HandshakeFailure: Error {
    var reason: String
  }

  /// Reads as much as the sender's session has room for.
  func read(into scratch: inout [UInt8], now: Instant) {
    guard phase == .open, var sender else { return }
    defer { self.sender = sender }
    wantsWrite = false
    while sender.hasRoom {
      switch stream.read(into: &scratch) {
      case .bytes(let count):
        lastReceived = now
        sender.receive(scratch[..<count])
      case .wantsRead: return
      case .wantsWrite:
        wantsWrite = true
        return
      case .ended: return sender.hangUp()
      case .failed(let reason):
        ending = reason
        return sender.hangUp()
      }
    }
  }

  func send(_ bytes: [UInt8]) {
    output += bytes
  }

  /// Writes the pending output; returns false if the peer will never accept more.
  func flush(now: Instant) -> Bool {
    while !output.isEmpty {
      switch stream.write(output.prefix(16_384)) {
      case .bytes(let count):
        output = output.dropFirst(count)
        lastReceived = now
      case .wantsRead, .wantsWrite: return true
      case .ended, .failed: return false
      }
    }
    return true
  }
}
