import COpenSSL
import Glibc

/// The TLS settings of all connections: certificate, protocol versions, ALPN.
@safe package final class TLSContext {
  let context: OpaquePointer
  let allowsHTTP1: Bool
  let isClient: Bool

  /// The settings of a client that trusts the certificates of one authority.
  package init(authorityPath: String) throws(OpenSSLError) {
    allowsHTTP1 = false
    isClient = true
    guard let context = unsafe SSL_CTX_new(TLS_client_method()) else {
      throw OpenSSLError("SSL_CTX_new")
    }
    unsafe self.context = context
    unsafe ridepulse_SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION)
    unsafe SSL_CTX_set_options(context, ridepulse_SSL_OP_IGNORE_UNEXPECTED_EOF())
    unsafe SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nil)
    guard unsafe SSL_CTX_load_verify_locations(context, authorityPath, nil) == 1 else {
      throw OpenSSLError("CA \(authorityPath)")
    }
    let protocols: [UInt8] = [2] + Array("h2".utf8)
    guard unsafe SSL_CTX_set_alpn_protos(context, protocols, UInt32(protocols.count)) == 0 else {
      throw OpenSSLError("SSL_CTX_set_alpn_protos")
    }
  }

  /// - Parameter allowsHTTP1: whether a client may do without HTTP/2.
  package init(
    certificatePath: String, keyPath: String, clientAuthorityPath: String? = nil,
    allowsHTTP1: Bool = false
  ) throws(OpenSSLError) {
    self.allowsHTTP1 = allowsHTTP1
    isClient = false
    guard let context = unsafe SSL_CTX_new(TLS_server_method()) else {
      throw OpenSSLError("SSL_CTX_new")
    }
    unsafe self.context = context
    unsafe ridepulse_SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION)
    // Output waits in our own buffer, which may be reallocated between two attempts of the same
    // write.
    let mode = SSL_MODE_ENABLE_PARTIAL_WRITE | UInt32(SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER)
    unsafe ridepulse_SSL_CTX_set_mode(context, Int(mode))
    // One read call fetches several records.
    unsafe SSL_CTX_set_default_read_buffer_len(context, 65_536)
    unsafe ridepulse_SSL_CTX_set_read_ahead(context, 1)
    // Sessions resume by tickets; an in-memory cache would only grow with each client.
    unsafe ridepulse_SSL_CTX_set_session_cache_mode(context, Int(SSL_SESS_CACHE_OFF))
    unsafe SSL_CTX_set_alpn_select_cb(
      context, allowsHTTP1 ? selectHTTP2OrHTTP1 : selectHTTP2, nil)
    // Many clients close the socket without a word of TLS.
    unsafe SSL_CTX_set_options(context, ridepulse_SSL_OP_IGNORE_UNEXPECTED_EOF())
    guard unsafe SSL_CTX_use_certificate_chain_file(context, certificatePath) == 1 else {
      throw OpenSSLError("certificate \(certificatePath)")
    }
    guard unsafe SSL_CTX_use_PrivateKey_file(context, keyPath, SSL_FILETYPE_PEM) == 1,
      unsafe SSL_CTX_check_private_key(context) == 1
    else { throw OpenSSLError("private key \(keyPath)") }
    if let clientAuthorityPath { try requestCertificates(signedBy: clientAuthorityPath) }
  }

  /// Requests a certificate from each client; a client without one authenticates by JWT.
  private func requestCertificates(signedBy path: String) throws(OpenSSLError) {
    guard unsafe SSL_CTX_load_verify_locations(context, path, nil) == 1,
      let names = unsafe SSL_load_client_CA_file(path)
    else { throw OpenSSLError("client CA \(path)") }
    unsafe SSL_CTX_set_client_CA_list(context, names)
    unsafe SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nil)
    // A session with a client certificate resumes only within a named context.
    let name = Array("apns-simulator".utf8)
    unsafe SSL_CTX_set_session_id_context(context, name, UInt32(name.count))
  }

  deinit {
    unsafe SSL_CTX_free(context)
  }
}

/// A client that offers protocols, and not `h2`, is refused in the handshake.
///
/// This is not called for a client that offers none; it may begin HTTP/2 with prior knowledge.
private let selectHTTP2: SSL_CTX_alpn_select_cb_func = {
  _, selected, selectedLength, offered, offeredLength, _ in
  unsafe select(["h2"], selected, selectedLength, offered, Int(offeredLength))
}

private let selectHTTP2OrHTTP1: SSL_CTX_alpn_select_cb_func = {
  _, selected, selectedLength, offered, offeredLength, _ in
  unsafe select(["h2", "http/1.1"], selected, selectedLength, offered, Int(offeredLength))
}

/// Selects the first protocol that the client offers.
private func select(
  _ protocols: [String], _ selected: UnsafeMutablePointer<UnsafePointer<UInt8>?>?,
  _ selectedLength: UnsafeMutablePointer<UInt8>?, _ offered: UnsafePointer<UInt8>?,
  _ offeredLength: Int
) -> Int32 {
  guard let selected = unsafe selected, let selectedLength = unsafe selectedLength,
    let offered = unsafe offered
  else { return SSL_TLSEXT_ERR_ALERT_FATAL }
  for name in protocols {
    var position = 0
    while position < offeredLength {
      let length = Int(unsafe offered[position])
      guard position + 1 + length <= offeredLength else { break }
      let offer = unsafe UnsafeBufferPointer(start: offered + position + 1, count: length)
      if unsafe offer.elementsEqual(name.utf8) {
        unsafe selected.pointee = offer.baseAddress
        unsafe selectedLength.pointee = UInt8(length)
        return SSL_TLSEXT_ERR_OK
      }
      position += 1 + length
    }
  }
  return SSL_TLSEXT_ERR_ALERT_FATAL
}

/// A TLS connection over a non-blocking socket; owns both.
@safe package final class TLSStream {
  package enum Outcome: Equatable {
    case bytes(Int)
    case wantsRead
    case wantsWrite
    /// The client closed the connection.
    case ended
    /// The socket failed.
    case broken(String)
    /// TLS failed; an alert of the client is in the text.
    case failed(String)
  }

  package let socket: Int32
  private let ssl: OpaquePointer
  private let allowsHTTP1: Bool

  /// Takes ownership of the socket, even if it throws.
  package init(socket: Int32, context: TLSContext) throws(OpenSSLError) {
    guard let ssl = unsafe SSL_new(context.context) else {
      close(socket)
      throw OpenSSLError("SSL_new")
    }
    unsafe self.ssl = ssl
    allowsHTTP1 = context.allowsHTTP1
    self.socket = socket
    if context.isClient {
      // The address that simulators' certificates name.
      unsafe X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), "127.0.0.1")
      unsafe SSL_set_connect_state(ssl)
    } else {
      unsafe SSL_set_accept_state(ssl)
    }
    guard unsafe SSL_set_fd(ssl, socket) == 1 else { throw OpenSSLError("SSL_set_fd") }
  }

  deinit {
    unsafe SSL_free(ssl)
    close(socket)
  }

  package var isEstablished: Bool {
    unsafe SSL_is_init_finished(ssl) == 1
  }

  /// Whether the client selected HTTP/1.1, or offered nothing where that is allowed.
  var speaksHTTP1: Bool {
    guard allowsHTTP1 else { return false }
    var name: UnsafePointer<UInt8>?
    var length: UInt32 = 0
    unsafe SSL_get0_alpn_selected(ssl, &name, &length)
    return unsafe !UnsafeBufferPointer(start: name, count: Int(length)).elementsEqual("h2".utf8)
  }

  /// Calls the closure with the client's certificate, valid only within it.
  package func withPeerCertificate<Result>(_ body: (OpaquePointer) -> Result?) -> Result? {
    guard let certificate = unsafe SSL_get1_peer_certificate(ssl) else { return nil }
    defer { unsafe X509_free(certificate) }
    return unsafe body(certificate)
  }

  package func read(into buffer: UnsafeMutableRawBufferPointer) -> Outcome {
    ERR_clear_error()
    errno = 0
    let count = unsafe SSL_read(ssl, buffer.baseAddress, Int32(clamping: buffer.count))
    return outcome(count)
  }

  package func write(_ bytes: UnsafeRawBufferPointer) -> Outcome {
    ERR_clear_error()
    errno = 0
    let count = unsafe SSL_write(ssl, bytes.baseAddress, Int32(clamping: bytes.count))
    return outcome(count)
  }

  /// Notifies the peer that no more bytes follow; reading remains possible.
  package func sendClose() {
    ERR_clear_error()
    unsafe SSL_shutdown(ssl)
    shutdown(socket, Int32(SHUT_WR))
  }

  private func outcome(_ count: Int32) -> Outcome {
    if count > 0 { return .bytes(Int(count)) }
    let code = errno
    switch unsafe SSL_get_error(ssl, count) {
    case SSL_ERROR_WANT_READ: return .wantsRead
    case SSL_ERROR_WANT_WRITE: return .wantsWrite
    case SSL_ERROR_SSL: return .failed(OpenSSLError("TLS").reason)
    case SSL_ERROR_SYSCALL where code != 0:
      return unsafe .broken(String(cString: strerror(code)))
    default: return .ended
    }
  }
}
