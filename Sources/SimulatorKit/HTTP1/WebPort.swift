import Glibc

/// What a web port serves.
package protocol WebSite: AnyObject {
  /// Rises with each change for which a request may wait.
  var revision: Int { get }

  func respond(to request: Request, at time: WallTime) -> WebResponse
}

/// How a request to a web port is answered.
package enum WebResponse {
  case answer(Answer)
  /// Once something has changed that the function answers, or the time is over.
  case wait(milliseconds: Int, (_ isOver: Bool) -> Answer?)
}

/// Serves plain HTTP/1.1 on a port of its own, in the turns of a server's event loop.
@safe package final class WebPort {
  private static let largestCrowd = 256
  /// The number of reads, and of answers to them, before others get their turn.
  private static let readsPerTurn = 16
  private static let answersPerTurn = 16

  private let listener: Listener
  private let endpoint: Endpoint
  private let site: any WebSite
  private var poller: Poller?
  private var firstKey: UInt64 = 0
  private var visitors: [UInt64: WebVisitor] = [:]
  private var visitorsTotal: UInt64 = 0
  private var waiting: Set<UInt64> = []
  private var lastRevision = 0
  private var isFull = false

  package init(_ endpoint: Endpoint, site: any WebSite) throws {
    listener = try Listener(endpoint)
    self.endpoint = endpoint.with(port: listener.port)
    self.site = site
  }

  /// Where it can be reached.
  package var url: String { "http://\(endpoint)" }

  package var isLoopback: Bool { endpoint.isLoopback }

  func join(_ poller: Poller, listenerKey: UInt64, firstKey: UInt64) {
    self.poller = poller
    self.firstKey = firstKey
    poller.add(listener.socket, .read, key: listenerKey)
  }

  /// When a request has waited long enough.
  var nextDeadline: Int? { waiting.lazy.compactMap { self.visitors[$0]?.waiting?.deadline }.min() }

  /// Accepts all who wait.
  func accept() {
    while case .socket(let socket) = listener.accept() {
      guard visitors.count < Self.largestCrowd else {
        close(socket)
        if !isFull { Log.write("the inbox has \(Self.largestCrowd) connections: no more for now") }
        isFull = true
        continue
      }
      visitorsTotal += 1
      let visitor = WebVisitor(socket: socket, key: firstKey + visitorsTotal)
      visitors[visitor.key] = visitor
      poller?.add(socket, visitor.interest, key: visitor.key)
    }
  }

  func handle(
    _ key: UInt64, _ ready: Poller.Interest, scratch: UnsafeMutableRawBufferPointer
  ) {
    guard let visitor = visitors[key] else { return }
    if visitor.waiting != nil {
      // The visitor has hung up, and an answer would be lost.
      if ready.isDisjoint(with: [.read, .write]) { drop(visitor) }
      return
    }
    if !visitor.interest.contains(.read) { return serve(visitor) }
    if unsafe read(visitor, scratch) { return }
    // Why its bytes are refused, if they are.
    _ = visitor.flush()
    drop(visitor)
  }

  /// Answers requests that wait, if something has changed or their time is over.
  func resume() {
    if waiting.isEmpty { return }
    let isNews = site.revision != lastRevision
    lastRevision = site.revision
    let now = MonotonicClock.milliseconds()
    for key in waiting.sorted() {
      guard let visitor = visitors[key], let wait = visitor.waiting else {
        waiting.remove(key)
        continue
      }
      let isOver = wait.deadline <= now
      guard isNews || isOver, let answer = wait.resume(isOver) else { continue }
      waiting.remove(key)
      visitor.answer(answer)
      serve(visitor)
    }
  }

  /// Reads until a request waits or its answer does: what follows stays with the visitor.
  ///
  /// Returns false if the visitor sends no more.
  private func read(_ visitor: WebVisitor, _ scratch: UnsafeMutableRawBufferPointer) -> Bool {
    for _ in 0..<Self.readsPerTurn {
      let count = unsafe recv(visitor.socket, scratch.baseAddress, scratch.count, 0)
      if count < 0, errno == EINTR { continue }
      if count < 0, errno == EAGAIN { return true }
      guard count > 0 else { return false }
      let bytes = unsafe UnsafeRawBufferPointer(rebasing: scratch[..<count])
      if let problem = unsafe visitor.session.receive(bytes) {
        visitor.refuse(problem)
        return false
      }
      serve(visitor)
      if !visitor.interest.contains(.read) { break }
    }
    return true
  }

  /// Answers one request after the other, as fast as the visitor takes the answers.
  private func serve(_ visitor: WebVisitor) {
    var progress = visitor.flush()
    var count = 0
    while progress == .done, count < Self.answersPerTurn, let request = visitor.nextRequest() {
      count += 1
      switch site.respond(to: request, at: .now()) {
      case .answer(let answer): visitor.answer(answer)
      case .wait(let milliseconds, let resume):
        let deadline = MonotonicClock.milliseconds() + milliseconds
        visitor.waiting = WebVisitor.Wait(deadline: deadline, resume: resume)
        waiting.insert(visitor.key)
      }
      progress = visitor.flush()
    }
    if progress == .gone { return drop(visitor) }
    // Nothing is read that can't be answered yet. A socket that can be written to is another turn.
    let interest: Poller.Interest =
      visitor.waiting != nil
      ? .hangUp
      : progress == .waits || count == Self.answersPerTurn ? .write : [.read, .hangUp]
    if interest == visitor.interest { return }
    visitor.interest = interest
    poller?.change(visitor.socket, interest, key: visitor.key)
  }

  /// The poller forgets a closed socket by itself.
  private func drop(_ visitor: WebVisitor) {
    visitors[visitor.key] = nil
    visitor.interest = []
    waiting.remove(visitor.key)
    isFull = false
  }
}
