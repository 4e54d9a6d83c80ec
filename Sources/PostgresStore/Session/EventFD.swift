internal import CLibpq
internal import Glibc

/// The only owner of an eventfd, which wakes a thread that sleeps in `poll`.
struct EventFD: ~Copyable, Sendable {
  /// The file descriptor to poll for reading; negative if no descriptor was available.
  let descriptor: Int32

  init() {
    descriptor = eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK))
  }

  var isUsable: Bool { descriptor >= 0 }

  deinit {
    if isUsable { close(descriptor) }
  }

  func ring() {
    // Fails only if the counter is full, and then the thread wakes anyway.
    _ = eventfd_write(descriptor, 1)
  }

  /// Resets the counter, so that `poll` blocks again.
  func answer() {
    var count: eventfd_t = 0
    _ = unsafe eventfd_read(descriptor, &count)
  }
}
