import Glibc

/// The listening socket, on the loopback address only.
@safe final class Listener {
  let socket: Int32
  let port: UInt16

  init(port: UInt16) throws(FileError) {
    let place = "127.0.0.1:\(port)"
    let kind = Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
    socket = Glibc.socket(AF_INET, kind, 0)
    guard socket >= 0 else { throw FileError("socket", place) }
    var one: Int32 = 1
    unsafe setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &one, 4)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(INADDR_LOOPBACK).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let socket = self.socket
    let status = unsafe withUnsafeMutablePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
        unsafe bind(socket, generic, length) == 0 && listen(socket, SOMAXCONN) == 0
          && getsockname(socket, generic, &length) == 0
      }
    }
    guard status else {
      let error = FileError("listen", place)
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
