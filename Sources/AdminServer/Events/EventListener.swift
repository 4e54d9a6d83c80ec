internal import Dispatch
internal import Synchronization

/// One who listens to a feed; when it is gone, so is its place in the feed.
final class EventListener: Sendable {
  fileprivate struct State {
    var next: [UInt8]?
    /// What is left of a text that did not fit.
    var rest: ArraySlice<UInt8>
    var isOver = false
  }

  /// A proxy, or a reader that is gone, is noticed by a line that means nothing.
  private static let silence: DispatchTimeInterval = .seconds(15)
  /// Told first: how long a browser waits, in milliseconds, before it connects anew.
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

  /// Waits for what comes next, at most so many bytes; nil at the end.
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
