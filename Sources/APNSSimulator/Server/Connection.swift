/// One client: its TLS stream, its HTTP/2 session and its state.
final class Connection {
  enum Progress {
    case done
    /// More bytes may be available; read again without waiting for the poller.
    case more
    case ended
  }

  /// The number of reads before other connections get their turn.
  private static let readsPerTurn = 16

  let number: Int
  let tls: TLSStream
  let session: Session
  var adoptedToken: AdoptedToken?
  /// True if the connection no longer reads, answers or acknowledges anything.
  var isBlackHole = false
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
  private var isProtocolChecked = false

  init(number: Int, tls: TLSStream, session: Session) {
    self.number = number
    self.tls = tls
    self.session = session
  }

  var isEstablished: Bool { isProtocolChecked }

  /// Reads into the session; complete requests are then in its table.
  func read(scratch: UnsafeMutableRawBufferPointer) -> Progress {
    for _ in 0..<Self.readsPerTurn {
      let outcome = unsafe tls.read(into: scratch)
      guard checkProtocol() else { return .ended }
      switch outcome {
      case .bytes(let count):
        if isLingering { continue }
        let bytes = unsafe UnsafeRawBufferPointer(rebasing: scratch[..<count])
        guard unsafe session.receive(bytes) else { return .ended }
      case .wantsRead, .wantsWrite: return .done
      case .ended: return .ended
      }
    }
    return .more
  }

  /// Sends the session's output as far as the client accepts it.
  func flush() -> Progress {
    guard isProtocolChecked, !isBlackHole, !isLingering else { return .done }
    while true {
      while !output.isFull {
        guard let frame = unsafe session.nextOutput() else { return .ended }
        if frame.isEmpty { break }
        unsafe output.append(frame)
      }
      if output.isEmpty { return finish() }
      switch unsafe output.withNextRecord({ unsafe tls.write($0) }) {
      case .bytes(let count): output.markSent(count)
      case .wantsWrite, .wantsRead:
        isBackedUp = true
        return .done
      case .ended: return .ended
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

  private func checkProtocol() -> Bool {
    if !isProtocolChecked, tls.isEstablished {
      isProtocolChecked = true
      return tls.speaksHTTP2
    }
    return true
  }
}
