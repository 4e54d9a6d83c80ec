internal import CMicrohttpd
internal import Dispatch
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
    guard isIn else {
      return .text(503, "\(limit) listeners are connected already; try again later")
    }
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

  fileprivate func leave(_ listener: ObjectIdentifier) {
    state.withLock { $0.listeners[listener] = nil }
  }
}

/// A listener of a feed; its place in the feed is freed when it is deallocated.
final class EventListener: Sendable {
  private struct State {
    var next: [UInt8]?
    /// The part of a text that has not been read yet.
    var rest: ArraySlice<UInt8>
    var isOver = false

    mutating func take(_ limit: Int) -> ArraySlice<UInt8>? {
      if rest.isEmpty, let next {
        rest = next[...]
        self.next = nil
      }
      if rest.isEmpty { return nil }
      defer { rest = rest.dropFirst(limit) }
      return rest.prefix(limit)
    }
  }

  /// How long a stream may be idle before a comment line is sent, which detects a proxy or a reader
  /// that is gone.
  private static let silence: DispatchTimeInterval = .seconds(15)
  /// The first message: the delay in milliseconds before a browser reconnects.
  private static let greeting = Array("retry: 2000\n\n".utf8)

  private let state = Mutex(State(rest: greeting[...]))
  private let changed = DispatchSemaphore(value: 0)
  private let feed: EventFeed

  fileprivate init(_ feed: EventFeed) {
    self.feed = feed
  }

  deinit { feed.leave(ObjectIdentifier(self)) }

  fileprivate func offer(_ text: [UInt8]) {
    state.withLock { $0.next = text }
    changed.signal()
  }

  fileprivate func end() {
    state.withLock { $0.isOver = true }
    changed.signal()
  }

  /// Waits for the next part, of at most `limit` bytes; returns nil at the end.
  func read(atMost limit: Int) -> ArraySlice<UInt8>? {
    while true {
      let (part, isOver) = state.withLock { ($0.take(limit), $0.isOver) }
      if isOver { return nil }
      if let part { return part }
      if changed.wait(timeout: .now() + Self.silence) == .timedOut {
        state.withLock { $0.rest = Array(": still here\n\n".utf8)[...] }
      }
    }
  }
}

enum EventStream {
  private static let blockSize = 16 * 1024

  /// Returns a streaming response; nil if no memory is left.
  static func response(_ listener: EventListener) -> OpaquePointer? {
    // UInt64.max means an unknown length. `forget` releases the listener.
    let held = unsafe Unmanaged.passRetained(listener)
    let response = unsafe MHD_create_response_from_callback(
      UInt64.max, blockSize, read, held.toOpaque(), forget)
    if unsafe response == nil { unsafe held.release() }
    return unsafe response
  }

  /// Runs on the connection's own thread, which may block.
  private static let read: MHD_ContentReaderCallback = { context, _, buffer, limit in
    let endOfStream = -1
    guard let context = unsafe context, let buffer = unsafe buffer else { return endOfStream }
    let listener = unsafe Unmanaged<EventListener>.fromOpaque(context).takeUnretainedValue()
    guard let part = listener.read(atMost: limit) else { return endOfStream }
    unsafe UnsafeMutableRawBufferPointer(start: buffer, count: limit).copyBytes(from: part)
    return part.count
  }

  private static let forget: MHD_ContentReaderFreeCallback = { context in
    guard let context = unsafe context else { return }
    unsafe Unmanaged<EventListener>.fromOpaque(context).release()
  }
}
