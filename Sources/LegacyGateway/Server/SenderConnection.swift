internal import Glibc
internal import RideCore

/// One connection: its socket, its session and its deadline.
final class SenderConnection {
  enum Talk {
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
  var talk: Talk
  var phase = Phase.handshake
  /// When the phase, the frame or the write must have progressed; nil if there is no limit.
  var deadline: Instant?
  var lastHeard: Instant
  /// How the connection ended, for the log.
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

  /// The events to poll for; 0 if the store must answer first.
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

  /// Continues the handshake; returns true when it is complete.
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

  /// Reads as much as the sender's session has room for.
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

  /// Writes the pending output; returns false if the peer will never accept more.
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
