internal import Synchronization

/// Publishes texts to all listeners as server-sent events.
///
/// Nothing is queued: a slow listener misses texts and receives the newest one.
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

  /// Creates a feed without listeners.
  ///
  /// - Parameter limit: the maximum number of listeners at one time.
  package init(limit: Int) {
    self.limit = limit
  }

  package var listenerCount: Int { state.withLock { $0.listeners.count } }

  /// Returns the response to a new listener: the newest text at once, then each further one; 503 if
  /// the feed is full or has ended.
  ///
  /// - Parameter onFirst: called if there was no listener before; must return at once.
  package func response(onFirst: () -> Void) -> HTTPResponse {
    let listener = EventListener(self)
    let (isIn, isFirst) = state.withLock { state in
      if state.isOver || state.listeners.count >= limit { return (false, false) }
      state.listeners[ObjectIdentifier(listener)] = Weak(listener: listener)
      // A text published before the first listener joined is outdated.
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

  /// Sends a text without line breaks to all listeners.
  package func publish(_ text: [UInt8]) {
    let message = Array("data: ".utf8) + text + Array("\n\n".utf8)
    let listeners = state.withLock { state in
      state.newest = message
      return state.listeners.values.compactMap(\.listener)
    }
    for listener in listeners { listener.offer(message) }
  }

  /// Ends all streams and refuses new listeners.
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
