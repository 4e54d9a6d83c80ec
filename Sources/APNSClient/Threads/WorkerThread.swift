import Glibc

/// A thread of our own: connections block in C, which Swift's cooperative threads must never do.
struct WorkerThread: Sendable {
  private let handle: pthread_t

  /// Starts a thread that takes no signals.
  ///
  /// Nil where the system gives none.
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

  /// Waits until it has ended; blocks.
  func join() { pthread_join(handle, nil) }

  /// Lets it end by itself.
  func detach() { pthread_detach(handle) }
}

/// The process' signals belong to its main thread, and a write to a closed socket must be an error
/// here and not a SIGPIPE, whatever curl and OpenSSL do about it.
private func blockSignals() {
  var all = sigset_t()
  unsafe sigfillset(&all)
  unsafe pthread_sigmask(SIG_SETMASK, &all, nil)
}
