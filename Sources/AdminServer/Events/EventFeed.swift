internal import Synchronization

/// Texts for all who listen, as server-sent events. Nothing is queued: whoever reads slowly misses
/// texts and gets the newest one.
package final class EventFeed: Sendable {
  private struct State {
    var listeners: [ObjectIdentifier: Weak] = [:]
    var newest: [UInt8]?
    var isOver = false
  }

  private struct Weak {
    weak var listener: EventListener?
  }

  private let state = Mutex(State())
  private let limit: Int

  /// A feed that nobody listens to yet.
  ///
  /// - Parameter limit: how many may listen at once.
  package init(limit: Int) {
    self.limit = limit
  }

  /// How many listen.
  package var listenerCount: Int { state.withLock { $0.listeners.count } }

  /// What to answer to who wants to listen: the newest text at once, then each one that comes; 503
  /// where too many do already.
  ///
  /// - Parameter onFirst: called where nobody listened before; has to return at once.
  package func response(onFirst: () -> Void) -> HTTPResponse {
    let listener = EventListener(self)
    let (isIn, isFirst) = state.withLock { state in
      if state.isOver || state.listeners.count >= limit { return (false, false) }
      state.listeners[ObjectIdentifier(listener)] = Weak(listener: listener)
      // A text of before nobody listened is old.
      if state.listeners.count == 1 { state.newest = nil }
      if let newest = state.newest { listener.offer(newest) }
      return (true, state.listeners.count == 1)
    }
    guard isIn else { return .text(503, "\(limit) listen already; try again later") }
    if isFirst { onFirst() }
    return HTTPResponse(
      status: 200, contentType: "text/event-stream", headers: PageHeaders.all, body: [],
      events: listener)
  }

  /// Gives a text without line breaks to all who listen.
  package func publish(_ text: [UInt8]) {
    let message = Array("data: ".utf8) + text + Array("\n\n".utf8)
    let listeners = state.withLock { state in
      state.newest = message
      return state.listeners.values.compactMap(\.listener)
    }
    for listener in listeners { listener.offer(message) }
  }

  /// Ends all streams; nobody may listen any more.
  package func end() {
    let listeners = state.withLock { state in
      state.isOver = true
      return state.listeners.values.compactMap(\.listener)
    }
    for listener in listeners { listener.end() }
  }

  func leave(_ listener: ObjectIdentifier) {
    state.withLock { $0.listeners[listener] = nil }
  }
}
