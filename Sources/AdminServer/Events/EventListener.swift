internal import Dispatch
internal import Synchronization

/// A listener of a feed; its place in the feed is freed when it is deallocated.
final class EventListener: Sendable {
  fileprivate struct State {
    var next: [UInt8]?
    /// The part of a text that has not been read yet.
    var rest: ArraySlice<UInt8>
    var isOver = false
  }

  /// How long a stream may be idle before a comment line is sent, which detects a proxy or a reader
  /// that is gone.
  private static let silence: DispatchTimeInterval = .seconds(15)
  /// The first message: the delay in milliseconds before a browser reconnects.
  private static let greeting = Array("retry: 2000\n\n".utf8)

  private let state = Mutex(State(rest: greeting[...]))
  private let news = DispatchSemaphore(value: 0)
  private let feed: EventFeed

  init(_ feed: EventFeed) {
    self.feed = feed
  }

  deinit { feed.leave(ObjectIdentifier(self)) }

  func offer(_ text: [UInt8]) {
    state.withLock { $0.next = text }
    news.signal()
  }

  func end() {
    state.withLock { $0.isOver = true }
    news.signal()
  }

  /// Waits for the next part, of at most `limit` bytes; returns nil at the end.
  func read(atMost limit: Int) -> ArraySlice<UInt8>? {
    while true {
      let (part, isOver) = state.withLock { ($0.take(limit), $0.isOver) }
      if isOver { return nil }
      if let part { return part }
      if news.wait(timeout: .now() + Self.silence) == .timedOut {
        state.withLock { $0.rest = Array(": still here\n\n".utf8)[...] }
      }
    }
  }
}

extension EventListener.State {
  fileprivate mutating func take(_ limit: Int) -> ArraySlice<UInt8>? {
    if rest.isEmpty, let next {
      rest = next[...]
      self.next = nil
    }
    if rest.isEmpty { return nil }
    defer { rest = rest.dropFirst(limit) }
    return rest.prefix(limit)
  }
}
