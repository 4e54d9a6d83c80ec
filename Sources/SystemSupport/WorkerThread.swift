internal import CSystem
internal import Glibc

/// A dedicated thread for code that blocks, which Swift's cooperative threads must not do.
package struct WorkerThread: Sendable {
  private let handle: pthread_t

  /// Starts a thread with signals blocked.
  ///
  /// Returns nil if the system provides none.
  ///
  /// - Parameter name: Shown by `ps` and `top`; the system keeps the first 15 bytes.
  package init?(named name: String? = nil, _ body: @escaping @Sendable () -> Void) {
    final class Box: Sendable {
      let body: @Sendable () -> Void
      init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }
    let named: @Sendable () -> Void = {
      if let name { unsafe ridepulse_set_thread_name(name) }
      body()
    }
    let box = unsafe Unmanaged.passRetained(Box(named))
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
  package func join() { pthread_join(handle, nil) }

  /// Releases the thread, so that it ends without a join.
  package func detach() { pthread_detach(handle) }
}

/// Blocks all signals for the calling thread, except those of a crash, which a backtrace needs.
///
/// Signals belong to the main thread, and a write to a closed socket must be an error here instead
/// of a SIGPIPE, whatever a C library does about it.
private func blockSignals() {
  var blocked = sigset_t()
  unsafe sigfillset(&blocked)
  for crash in [SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGTRAP] {
    unsafe sigdelset(&blocked, crash)
  }
  unsafe pthread_sigmask(SIG_SETMASK, &blocked, nil)
}
