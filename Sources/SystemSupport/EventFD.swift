internal import CSystem
internal import Glibc

/// Wakes a thread that waits in `poll`; any thread may signal.
package final class EventFD: Sendable {
  /// The file descriptor to poll for reading.
  package let descriptor: Int32

  /// Returns nil if the process has no file descriptor left.
  package init?() {
    descriptor = eventfd(0, Int32(EFD_NONBLOCK | EFD_CLOEXEC))
    if descriptor < 0 { return nil }
  }

  deinit { close(descriptor) }

  package func signal() {
    var one: UInt64 = 1
    // If the counter is full the write fails, but a signal is pending already.
    unsafe _ = write(descriptor, &one, 8)
  }

  /// Discards the pending signals, so that `poll` blocks again.
  package func clear() {
    var count: UInt64 = 0
    unsafe _ = read(descriptor, &count, 8)
  }
}
