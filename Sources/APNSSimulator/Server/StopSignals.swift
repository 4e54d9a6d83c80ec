import CNghttp2
import Glibc

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
