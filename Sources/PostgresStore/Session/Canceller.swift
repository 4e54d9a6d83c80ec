internal import CLibpq
internal import Foundation

/// Asks the server to stop what a connection was doing.
@safe final class Canceller: @unchecked Sendable {
  // Unchecked: a PGcancel never changes, and libpq allows its use on any thread.
  private let handle: OpaquePointer

  init(owning handle: OpaquePointer) {
    unsafe self.handle = handle
  }

  deinit {
    unsafe PQfreeCancel(handle)
  }

  /// Sends the request on a thread of its own, since libpq 15 can only do it blocking. Whether it
  /// arrives is not known and not waited for: the connection is given up anyway.
  func cancelInBackground() {
    let thread = Thread {
      var reason: [CChar] = Array(repeating: 0, count: 256)
      let size = Int32(reason.count)
      _ = unsafe reason.withUnsafeMutableBufferPointer {
        unsafe PQcancel(self.handle, $0.baseAddress, size)
      }
    }
    thread.name = "postgres-cancel"
    thread.start()
  }
}
