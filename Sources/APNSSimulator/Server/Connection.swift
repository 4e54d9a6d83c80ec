/// One client: its TLS stream, its HTTP/2 session, and what is known of it.
final class Connection {
  enum Progress {
    case done
    /// More may be there; ask again without waiting for the poller.
    case more
    case ended
  }

  /// Reads before others have their turn.
  private static let readsPerTurn = 16

  let number: Int
  let tls: TLSStream
  let session: Session
  var adoptedToken: AdoptedToken?
  /// Nothing is read, answered or acknowledged any more.
  var isBlackHole = false
  /// In the server's list of connections to flush.
  var isDirty = false
  /// What the poller was last told.
  var interest: Poller.Interest = [.read, .hangUp]
  /// The client does not take what is there for it; nothing more is read until it does.
  private(set) var isBackedUp = false
  /// All is said: waits for the client to close, as closing first could cut off the last words.
  private(set) var isLingering = false
  private var output = OutputBuffer()
  private var isProtocolChecked = false

  init(number: Int, tls: TLSStream, session: Session) {
    self.number = number
    self.tls = tls
    self.session = session
  }

  var isEstablished: Bool { isProtocolChecked }

  /// Feeds the session; requests are then in its table.
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

  /// Sends all that the session has, as far as the client takes it.
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
