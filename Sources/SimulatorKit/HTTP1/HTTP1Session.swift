/// HTTP/1.1 with persistent connections, one request after the other.
final class HTTP1Session: Session {
  /// The largest head of a request.
  private static let headBytes = 65_536

  let streams = StreamTable(isSink: false)
  private var input: [UInt8] = []
  private var output: [UInt8] = []
  private var parser = HTTP1Parser()
  /// The number of the request that is read or answered.
  private var stream: Int32 = 1
  private var isAnswering = false
  private var endsAfterAnswer = false

  var isOver: Bool { endsAfterAnswer && !isAnswering && output.isEmpty }
  /// Whether answers wait for `write`.
  var hasOutput: Bool { !output.isEmpty }

  func receive(_ bytes: UnsafeRawBufferPointer) -> String? {
    unsafe input.append(contentsOf: bytes)
    return readRequest()
  }

  /// Reads the next request, if the one before is answered.
  private func readRequest() -> String? {
    if endsAfterAnswer {
      input = []
      return nil
    }
    if isAnswering { return isFull ? "not HTTP/1.1: too much before an answer" : nil }
    switch parser.parse(input) {
    case .incomplete: return isFull ? "not HTTP/1.1: too large" : nil
    case .malformed(let problem): return "not HTTP/1.1: " + problem
    case .request(let request, let end, let isLast):
      input.removeFirst(end)
      isAnswering = true
      endsAfterAnswer = isLast
      streams.completed(request, stream)
      return nil
    }
  }

  private var isFull: Bool { input.count > Self.headBytes + StreamTable.maximumBodyBytes }

  func write(to output: inout OutputBuffer) -> SessionOutput {
    if self.output.isEmpty { return .none }
    unsafe self.output.withUnsafeBufferPointer { unsafe output.append($0) }
    self.output.removeAll(keepingCapacity: true)
    return .some
  }

  func isOpen(_ stream: Int32) -> Bool { isAnswering && stream == self.stream }

  func answer(_ stream: Int32, _ answer: Answer, isWhole: Bool) {
    guard isOpen(stream) else { return }
    output += "HTTP/1.1 \(answer.status) \(answer.status < 400 ? "OK" : "Error")\r\n".utf8
    for header in answer.headers { output += "\(header.name): \(header.value)\r\n".utf8 }
    if endsAfterAnswer { output += "connection: close\r\n".utf8 }
    output += "content-length: \(answer.body.count)\r\n\r\n".utf8
    output += answer.body.prefix(isWhole ? answer.body.count : answer.body.count / 2)
    if !isWhole { endsAfterAnswer = true }
    isAnswering = false
    self.stream += 2
    if let problem = readRequest() {
      Log.write(problem)
      endsAfterAnswer = true
    }
  }

  func accept(_ stream: Int32, _ acceptance: Acceptance) {
    answer(stream, Answer(status: 200, headers: [], body: []), isWhole: true)
  }

  /// HTTP/1.1 has no streams to limit.
  func begin(maximumStreams: Int?) {}
  func setMaximumStreams(_ count: Int) {}

  /// Leaves the request without an answer.
  func reset(_ stream: Int32, _ code: UInt32) {
    isAnswering = false
    endsAfterAnswer = true
  }

  func goAway(lastStream: Int32, data: [UInt8]) {
    if lastStream < stream { isAnswering = false }
    endsAfterAnswer = true
  }
}
