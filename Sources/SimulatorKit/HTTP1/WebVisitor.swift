import Glibc

/// One connection to a web port.
final class WebVisitor {
  struct Wait {
    let deadline: Int
    let resume: (_ isOver: Bool) -> Answer?
  }

  enum Progress { case done, waits, gone }

  let socket: Int32
  let key: UInt64
  let session = HTTP1Session()
  var interest: Poller.Interest = [.read, .hangUp]
  /// Of the request that is open.
  var waiting: Wait?
  private var output = OutputBuffer()
  /// The request that is open.
  private var stream: Int32 = 0

  /// Takes ownership of the socket.
  init(socket: Int32, key: UInt64) {
    self.socket = socket
    self.key = key
  }

  deinit {
    close(socket)
  }

  /// Whether it has not accepted all answers.
  var hasOutput: Bool { !output.isEmpty || session.hasOutput }

  /// Returns the next request; nil if there is none, or one is still open or its answer not sent.
  func nextRequest() -> Request? {
    guard waiting == nil, !hasOutput, let next = session.streams.takeReady().first else {
      return nil
    }
    stream = next
    return session.streams.takeRequest(next)
  }

  func answer(_ answer: Answer) {
    waiting = nil
    session.answer(stream, answer, isWhole: true)
  }

  /// Answers bytes that are not HTTP.
  func refuse(_ problem: String) {
    let body = JSON.object(["error": .string(problem)]).serialized
    let head =
      "HTTP/1.1 400 Error\r\ncontent-type: application/json\r\nconnection: close\r\n"
      + "content-length: \(body.count)\r\n\r\n"
    let bytes = Array(head.utf8) + body
    unsafe bytes.withUnsafeBufferPointer { unsafe output.append($0) }
  }

  /// Sends what the visitor accepts.
  func flush() -> Progress {
    while true {
      if output.isEmpty, session.write(to: &output) != .some {
        return session.isOver ? .gone : .done
      }
      let sent = unsafe output.withNextRecord { bytes in
        unsafe send(socket, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
      }
      if sent < 0, errno == EINTR { continue }
      if sent < 0, errno == EAGAIN { return .waits }
      if sent <= 0 { return .gone }
      output.markSent(sent)
    }
  }
}
