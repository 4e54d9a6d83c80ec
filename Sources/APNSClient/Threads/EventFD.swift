import CLibcurl
import Glibc

/// Wakes a thread that waits in `poll`. Any thread may signal.
final class EventFD: Sendable {
  let descriptor: CInt

  /// Nil where the process has no file descriptor left.
  init?() {
    descriptor = eventfd(0, CInt(EFD_NONBLOCK | EFD_CLOEXEC))
    if descriptor < 0 { return nil }
  }

  deinit { Glibc.close(descriptor) }

  func signal() {
    var one: UInt64 = 1
    // A full counter fails to grow and is a signal already.
    unsafe _ = write(descriptor, &one, 8)
  }

  /// Forgets the signals so far.
  func clear() {
    var count: UInt64 = 0
    unsafe _ = read(descriptor, &count, 8)
  }
}
