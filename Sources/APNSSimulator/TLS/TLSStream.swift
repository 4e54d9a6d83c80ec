import COpenSSL
import Glibc

/// A TLS connection over a non-blocking socket; owns both.
@safe final class TLSStream {
  enum Outcome: Equatable {
    case bytes(Int)
    case wantsRead
    case wantsWrite
    case ended
  }

  let socket: Int32
  private let ssl: OpaquePointer

  /// Takes ownership of the socket, even if it throws.
  init(socket: Int32, context: TLSContext) throws(OpenSSLError) {
    guard let ssl = unsafe SSL_new(context.context) else {
      close(socket)
      throw OpenSSLError("SSL_new")
    }
    unsafe self.ssl = ssl
    self.socket = socket
    unsafe SSL_set_accept_state(ssl)
    guard unsafe SSL_set_fd(ssl, socket) == 1 else { throw OpenSSLError("SSL_set_fd") }
  }

  deinit {
    unsafe SSL_free(ssl)
    close(socket)
  }

  var isEstablished: Bool {
    unsafe SSL_is_init_finished(ssl) == 1
  }

  /// False for a client that sent no ALPN at all; the ALPN callback is not called for it.
  var speaksHTTP2: Bool {
    var name: UnsafePointer<UInt8>?
    var length: UInt32 = 0
    unsafe SSL_get0_alpn_selected(ssl, &name, &length)
    return length == 2
  }

  func read(into buffer: UnsafeMutableRawBufferPointer) -> Outcome {
    ERR_clear_error()
    let count = unsafe SSL_read(ssl, buffer.baseAddress, Int32(clamping: buffer.count))
    return outcome(count)
  }

  func write(_ bytes: UnsafeRawBufferPointer) -> Outcome {
    ERR_clear_error()
    let count = unsafe SSL_write(ssl, bytes.baseAddress, Int32(clamping: bytes.count))
    return outcome(count)
  }

  /// Notifies the peer that no more bytes follow; reading remains possible.
  func sendClose() {
    ERR_clear_error()
    unsafe SSL_shutdown(ssl)
    shutdown(socket, Int32(SHUT_WR))
  }

  private func outcome(_ count: Int32) -> Outcome {
    if count > 0 { return .bytes(Int(count)) }
    switch unsafe SSL_get_error(ssl, count) {
    case SSL_ERROR_WANT_READ: return .wantsRead
    case SSL_ERROR_WANT_WRITE: return .wantsWrite
    default: return .ended
    }
  }
}
