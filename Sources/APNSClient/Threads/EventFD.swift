import CLibcurl
import Glibc

/// Wakes a thread that waits in `poll`; any thread may signal.
final class EventFD: Sendable {
  let descriptor: CInt

  /// Returns nil if the process has no file descriptor left.
  init?() {
    descriptor = eventfd(0, CInt(EFD_NONBLOCK | EFD_CLOEXEC))
    if descriptor < 0 { return nil }
  }

  deinit { Glibc.close(descriptor) }

  func signal() {
    var one: UInt64 = 1
    // If the counter is full the write fails, but a signal is pending already.
    unsafe _ = write(descriptor, &one, 8)
  }

  /// Discards the pending signals.
  func clear() {
    var count: UInt64 = 0
    unsafe _ = read(descriptor, &count, 8)
  }
}
