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

/// A listening socket.
@safe final class Listener {
  let socket: Int32
  let port: UInt16

  init(_ endpoint: Endpoint) throws(FileError) {
    let kind = Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
    socket = Glibc.socket(AF_INET, kind, 0)
    guard socket >= 0 else { throw FileError("socket", "\(endpoint)") }
    var one: Int32 = 1
    unsafe setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &one, 4)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = endpoint.port.bigEndian
    address.sin_addr.s_addr = endpoint.address ?? UInt32(INADDR_LOOPBACK).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let socket = self.socket
    let status = unsafe withUnsafeMutablePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
        unsafe bind(socket, generic, length) == 0 && listen(socket, SOMAXCONN) == 0
          && getsockname(socket, generic, &length) == 0
      }
    }
    guard status else {
      let error = FileError("listen", "\(endpoint)")
      close(socket)
      throw error
    }
    self.port = UInt16(bigEndian: address.sin_port)
  }

  deinit {
    close(socket)
  }

  enum Arrival {
    case socket(Int32)
    case none
    /// No file descriptor is free.
    case exhausted
  }

  func accept() -> Arrival {
    while true {
      let accepted = Glibc.accept(socket, nil, nil)
      if accepted >= 0 {
        _ = fcntl(accepted, F_SETFL, O_NONBLOCK)
        _ = fcntl(accepted, F_SETFD, FD_CLOEXEC)
        var one: Int32 = 1
        unsafe setsockopt(accepted, Int32(IPPROTO_TCP), TCP_NODELAY, &one, 4)
        return .socket(accepted)
      }
      switch errno {
      case EINTR, ECONNABORTED: continue
      case EMFILE, ENFILE, ENOMEM, ENOBUFS: return .exhausted
      default: return .none
      }
    }
  }
}

/// Delivers SIGTERM and SIGINT through a readable descriptor, so that the loop ends between two
/// turns.
@safe final class StopSignals {
  let descriptor: Int32

  init() throws(FileError) {
    // A client that vanishes must cause a write error, not the end of the process.
    signal(SIGPIPE, SIG_IGN)
    var signals = sigset_t()
    unsafe sigemptyset(&signals)
    unsafe sigaddset(&signals, SIGTERM)
    unsafe sigaddset(&signals, SIGINT)
    unsafe sigprocmask(SIG_BLOCK, &signals, nil)
    descriptor = unsafe signalfd(-1, &signals, Int32(SFD_CLOEXEC))
    guard descriptor >= 0 else { throw FileError("signalfd", "signals") }
  }

  deinit {
    close(descriptor)
  }
}
