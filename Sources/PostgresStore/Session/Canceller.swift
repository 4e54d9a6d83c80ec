internal import CLibpq
internal import SystemSupport

/// Asks the server to cancel the statement that a connection is running.
@safe final class Canceller: @unchecked Sendable {
  // Unchecked: a PGcancel never changes, and libpq allows its use on any thread.
  private let handle: OpaquePointer

  init(owning handle: OpaquePointer) {
    unsafe self.handle = handle
  }

  deinit {
    unsafe PQfreeCancel(handle)
  }

  /// Sends the cancel request on a new thread, because libpq 15 can only send it blocking.
  ///
  /// The outcome is not checked: the caller drops the connection anyway.
  func cancelInBackground() {
    let thread = WorkerThread(named: "postgres-cancel") {
      var reason: [CChar] = Array(repeating: 0, count: 256)
      let size = Int32(reason.count)
      _ = unsafe reason.withUnsafeMutableBufferPointer {
        unsafe PQcancel(self.handle, $0.baseAddress, size)
      }
    }
    thread?.detach()
  }
}
