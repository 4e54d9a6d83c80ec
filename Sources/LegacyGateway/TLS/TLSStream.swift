internal import COpenSSL
internal import Glibc
internal import SystemSupport

/// A TLS connection over a non-blocking socket; owns both.
@safe final class TLSStream {
  enum Outcome: Equatable {
    case bytes(Int)
    case wantsRead
    case wantsWrite
    /// The peer has closed the connection, with or without notice.
    case ended
    case failed(String)
  }

  let socket: Int32
  let ssl: OpaquePointer

  /// Takes ownership of the socket, even if it fails.
  init?(socket: Int32, context: TLSContext) {
    guard let ssl = unsafe context.makeConnection() else {
      close(socket)
      return nil
    }
    unsafe self.ssl = ssl
    self.socket = socket
    unsafe SSL_set_accept_state(ssl)
    guard unsafe SSL_set_fd(ssl, socket) == 1 else { return nil }
  }

  deinit {
    unsafe SSL_free(ssl)
    close(socket)
  }

  /// Continues the handshake; returns `bytes(1)` when it is complete.
  func handshake() -> Outcome {
    ERR_clear_error()
    return outcome(unsafe SSL_do_handshake(ssl))
  }

  func read(into buffer: inout [UInt8]) -> Outcome {
    ERR_clear_error()
    return outcome(unsafe SSL_read(ssl, &buffer, Int32(clamping: buffer.count)))
  }

  func write(_ bytes: ArraySlice<UInt8>) -> Outcome {
    ERR_clear_error()
    let count = unsafe bytes.withUnsafeBytes { bytes in
      unsafe SSL_write(ssl, bytes.baseAddress, Int32(clamping: bytes.count))
    }
    return outcome(count)
  }

  /// Notifies the peer that no more bytes follow; reading remains possible.
  func sendClose() {
    ERR_clear_error()
    unsafe SSL_shutdown(ssl)
    SocketShutdown.writing.apply(to: socket)
  }

  /// Discards received bytes; returns false at their end.
  ///
  /// Closing a socket with unread bytes resets the connection, and the peer then loses what it had
  /// not read yet.
  func discard(into buffer: inout [UInt8]) -> Bool {
    while true {
      let count = unsafe recv(socket, &buffer, buffer.count, 0)
      if count == 0 { return false }
      if count < 0 { return errno == EAGAIN || errno == EINTR }
    }
  }

  private func outcome(_ count: Int32) -> Outcome {
    if count > 0 { return .bytes(Int(count)) }
    let number = errno
    switch unsafe SSL_get_error(ssl, count) {
    case SSL_ERROR_WANT_READ: return .wantsRead
    case SSL_ERROR_WANT_WRITE: return .wantsWrite
    case SSL_ERROR_ZERO_RETURN: return .ended
    case SSL_ERROR_SYSCALL:
      return number == 0 ? .ended : .failed(unsafe String(cString: strerror(number)))
    default: return .failed(complaint())
    }
  }

  private func complaint() -> String {
    let verdict = unsafe SSL_get_verify_result(ssl)
    let reason = openSSLReason() ?? "TLS failed"
    if verdict == X509_V_OK { return reason }
    let words = unsafe String(cString: X509_verify_cert_error_string(verdict))
    return "\(reason): \(words)"
  }
}
