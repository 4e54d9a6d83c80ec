internal import Glibc
internal import RideCore

/// One connection: its socket, what is said on it, and until when it may last as it is.
final class SenderConnection {
  enum Talk {
    case sender(SenderSession)
    case feedback(FeedbackSession)
  }

  enum Phase: Equatable {
    case handshake
    case open
    /// What is left is written, and then the connection is closed.
    case closing
    /// Closed on this side; what still comes is thrown away.
    case lingering
  }

  typealias Instant = ContinuousClock.Instant

  let number: Int
  let peer: String
  let stream: TLSStream
  var talk: Talk
  var phase = Phase.handshake
  /// When the phase, the frame or the write must have moved on; nil where nothing presses.
  var deadline: Instant?
  var lastHeard: Instant
  /// How it ended, for whoever reads the log.
  var ending: String?
  private var output: ArraySlice<UInt8> = []
  private var wantsWrite = false

  init(number: Int, peer: String, stream: TLSStream, talk: Talk, now: Instant, until: Instant) {
    self.number = number
    self.peer = peer
    self.stream = stream
    self.talk = talk
    lastHeard = now
    deadline = until
  }

  var hasOutput: Bool { !output.isEmpty }

  /// What to poll for; 0 where the next word is the desk's.
  var interest: Int16 {
    if wantsWrite || hasOutput { return Int16(POLLOUT) }
    switch phase {
    case .handshake, .lingering: return Int16(POLLIN)
    case .closing: return 0
    case .open:
      if case .sender(let talk) = talk, talk.hasRoom { return Int16(POLLIN) }
      return 0
    }
  }

  /// Moves the handshake on; true at its end.
  func shakeHands() throws(TurnedAway) -> Bool {
    switch stream.handshake() {
    case .bytes:
      wantsWrite = false
      return true
    case .wantsRead: wantsWrite = false
    case .wantsWrite: wantsWrite = true
    case .ended: throw TurnedAway(reason: "the peer hung up during the handshake")
    case .failed(let reason): throw TurnedAway(reason: reason)
    }
    return false
  }

  struct TurnedAway: Error {
    var reason: String
  }

  /// Reads as much as the sender's talk has room for.
  func read(into scratch: inout [UInt8], now: Instant) {
    guard phase == .open, case .sender(var talk) = talk else { return }
    defer { self.talk = .sender(talk) }
    wantsWrite = false
    while talk.hasRoom {
      switch stream.read(into: &scratch) {
      case .bytes(let count):
        lastHeard = now
        talk.receive(scratch[..<count])
      case .wantsRead: return
      case .wantsWrite:
        wantsWrite = true
        return
      case .ended: return talk.hangUp()
      case .failed(let reason):
        ending = reason
        return talk.hangUp()
      }
    }
  }

  func send(_ bytes: [UInt8]) {
    output += bytes
  }

  /// Writes what there is; false where the peer takes no more, ever.
  func flush(now: Instant) -> Bool {
    while !output.isEmpty {
      switch stream.write(output.prefix(16_384)) {
      case .bytes(let count):
        output = output.dropFirst(count)
        lastHeard = now
      case .wantsRead, .wantsWrite: return true
      case .ended, .failed: return false
      }
    }
    return true
  }
}
