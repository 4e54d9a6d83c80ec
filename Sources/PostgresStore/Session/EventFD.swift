internal import CLibpq
internal import Glibc

/// Wakes the thread that sleeps in `poll`; the one owner of an eventfd.
struct EventFD: ~Copyable, Sendable {
  /// The file to poll for reading; negative where the system has no more files to give.
  let descriptor: Int32

  init() {
    descriptor = eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK))
  }

  var isUsable: Bool { descriptor >= 0 }

  deinit {
    if isUsable { close(descriptor) }
  }

  func ring() {
    // Fails only where the counter is full, and then the thread wakes anyway.
    _ = eventfd_write(descriptor, 1)
  }

  /// Makes the bell silent again.
  func answer() {
    var count: eventfd_t = 0
    _ = unsafe eventfd_read(descriptor, &count)
  }
}
