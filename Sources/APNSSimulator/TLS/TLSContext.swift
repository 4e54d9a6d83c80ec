import COpenSSL

/// The TLS settings of all connections: certificate, protocol versions, ALPN.
@safe final class TLSContext {
  let context: OpaquePointer

  init(certificatePath: String, keyPath: String) throws(OpenSSLError) {
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
    unsafe SSL_CTX_set_alpn_select_cb(context, selectHTTP2, nil)
    guard unsafe SSL_CTX_use_certificate_chain_file(context, certificatePath) == 1 else {
      throw OpenSSLError("certificate \(certificatePath)")
    }
    guard unsafe SSL_CTX_use_PrivateKey_file(context, keyPath, SSL_FILETYPE_PEM) == 1,
      unsafe SSL_CTX_check_private_key(context) == 1
    else { throw OpenSSLError("private key \(keyPath)") }
  }

  deinit {
    unsafe SSL_CTX_free(context)
  }
}

/// APNs supports only HTTP/2: a client that does not offer `h2` is refused in the handshake.
private let selectHTTP2: SSL_CTX_alpn_select_cb_func = {
  _, selected, selectedLength, offered, offeredLength, _ in
  guard let selected = unsafe selected, let selectedLength = unsafe selectedLength,
    let offered = unsafe offered
  else { return SSL_TLSEXT_ERR_ALERT_FATAL }
  var position = 0
  while position < Int(offeredLength) {
    let length = Int(unsafe offered[position])
    guard position + 1 + length <= Int(offeredLength) else { break }
    let name = unsafe UnsafeBufferPointer(start: offered + position + 1, count: length)
    if unsafe name.elementsEqual("h2".utf8) {
      unsafe selected.pointee = name.baseAddress
      unsafe selectedLength.pointee = UInt8(length)
      return SSL_TLSEXT_ERR_OK
    }
    position += 1 + length
  }
  return SSL_TLSEXT_ERR_ALERT_FATAL
}
