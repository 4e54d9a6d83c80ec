import CNghttp2
import Glibc

/// Wraps epoll, with 64-bit keys instead of pointers.
@safe final class Poller {
  struct Interest: OptionSet {
    let rawValue: UInt32
    static let read = Interest(rawValue: EPOLLIN.rawValue)
    static let write = Interest(rawValue: EPOLLOUT.rawValue)
    /// The peer stopped sending: the only event of a connection that is not read.
    static let hangUp = Interest(rawValue: EPOLLRDHUP.rawValue)
  }

  private let descriptor: Int32
  private var events: [epoll_event]

  init() throws(FileError) {
    descriptor = epoll_create1(Int32(EPOLL_CLOEXEC))
    unsafe events = [epoll_event](repeating: epoll_event(), count: 256)
    guard descriptor >= 0 else { throw FileError("epoll_create1", "epoll") }
  }

  deinit {
    close(descriptor)
  }

  @discardableResult
  func add(_ file: Int32, _ interest: Interest, key: UInt64) -> Bool {
    control(EPOLL_CTL_ADD, file, interest, key)
  }

  func change(_ file: Int32, _ interest: Interest, key: UInt64) {
    _ = control(EPOLL_CTL_MOD, file, interest, key)
  }

  private func control(_ call: Int32, _ file: Int32, _ interest: Interest, _ key: UInt64) -> Bool {
    var event = unsafe epoll_event(events: interest.rawValue, data: epoll_data(u64: key))
    return unsafe epoll_ctl(descriptor, call, file, &event) == 0
  }

  /// - Parameter timeoutMilliseconds: Nil waits for an event without limit.
  func wait(timeoutMilliseconds: Int?) -> [(key: UInt64, ready: Interest)] {
    let timeout = timeoutMilliseconds.map { Int32(clamping: max(0, $0)) } ?? -1
    let count = unsafe epoll_wait(descriptor, &events, Int32(events.count), timeout)
    return (0..<max(0, Int(count))).map { index in
      unsafe (events[index].data.u64, Interest(rawValue: events[index].events))
    }
  }
}
