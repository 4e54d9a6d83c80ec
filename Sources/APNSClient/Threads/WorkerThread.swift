import Glibc

/// A dedicated thread: connections block in C code, which Swift's cooperative threads must not do.
struct WorkerThread: Sendable {
  private let handle: pthread_t

  /// Starts a thread with all signals blocked.
  ///
  /// Returns nil if the system provides none.
  init?(_ body: @escaping @Sendable () -> Void) {
    final class Box: Sendable {
      let body: @Sendable () -> Void
      init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }
    let box = unsafe Unmanaged.passRetained(Box(body))
    var handle = pthread_t()
    let failure = unsafe pthread_create(
      &handle, nil,
      { argument in
        blockSignals()
        if let argument = unsafe argument {
          unsafe Unmanaged<Box>.fromOpaque(argument).takeRetainedValue().body()
        }
        return nil
      }, box.toOpaque())
    guard failure == 0 else {
      unsafe box.release()
      return nil
    }
    self.handle = handle
  }

  /// Waits until the thread has ended; blocks.
  func join() { pthread_join(handle, nil) }

  /// Releases the thread, so that it ends without a join.
  func detach() { pthread_detach(handle) }
}

/// Blocks all signals for the calling thread.
///
/// Signals belong to the main thread, and a write to a closed socket must be an error here instead
/// of a SIGPIPE, whatever curl and OpenSSL do about it.
private func blockSignals() {
  var all = sigset_t()
  unsafe sigfillset(&all)
  unsafe pthread_sigmask(SIG_SETMASK, &all, nil)
}
