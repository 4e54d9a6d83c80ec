internal import COpenSSL
internal import SystemSupport

/// The TLS settings of all connections: certificate, protocol versions and trusted CAs.
@safe final class TLSContext: @unchecked Sendable {
  // Unchecked: OpenSSL counts references to it under locks, and it never changes after `init`.
  private let context: OpaquePointer

  /// - Parameter clientCA: A PEM file of the CAs that sign senders' certificates; if nil, senders
  ///   need none.
  init(_ identity: ServerIdentity, clientCA: String?) throws(GatewayError) {
    guard let context = unsafe SSL_CTX_new(TLS_server_method()) else {
      throw .openSSL("SSL_CTX_new")
    }
    unsafe self.context = context
    unsafe ridepulse_SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION)
    // The pending output may have moved between two attempts of the same write.
    let mode = SSL_MODE_ENABLE_PARTIAL_WRITE | UInt32(SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER)
    unsafe ridepulse_SSL_CTX_set_mode(context, Int(mode))
    unsafe ridepulse_SSL_CTX_set_session_cache_mode(context, Int(SSL_SESS_CACHE_OFF))
    // A sender's certificate is checked once, at the start.
    unsafe _ = SSL_CTX_set_options(context, ridepulse_SSL_OP_NO_RENEGOTIATION())
    // Most old senders simply close the socket; frames carry their own length, so no truncation is
    // missed.
    unsafe _ = SSL_CTX_set_options(context, ridepulse_SSL_OP_IGNORE_UNEXPECTED_EOF())
    unsafe SSL_CTX_set_num_tickets(context, 0)
    try use(identity)
    if let clientCA { try require(clientCA) }
  }

  deinit {
    unsafe SSL_CTX_free(context)
  }

  private func use(_ identity: ServerIdentity) throws(GatewayError) {
    switch identity {
    case .selfSigned(let name):
      guard unsafe try SelfSigned(name: name).use(in: context) else {
        throw .openSSL("certificate for \(name)")
      }
    case .files(let certificate, let key):
      let chain = try Self.bytes(of: certificate, "certificate")
      guard unsafe ridepulse_SSL_CTX_use_chain(context, chain, Int32(clamping: chain.count)) == 1
      else { throw .openSSL("certificate \(certificate)") }
      var secret = try Self.bytes(of: key, "key")
      defer { unsafe OPENSSL_cleanse(&secret, secret.count) }
      guard unsafe ridepulse_SSL_CTX_use_key(context, secret, Int32(clamping: secret.count)) == 1,
        unsafe SSL_CTX_check_private_key(context) == 1
      else { throw .openSSL("key \(key)") }
    }
  }

  private func require(_ authority: String) throws(GatewayError) {
    let authorities = try Self.bytes(of: authority, "client CA")
    let count = Int32(clamping: authorities.count)
    guard
      unsafe ridepulse_X509_STORE_add_pem(SSL_CTX_get_cert_store(context), authorities, count) > 0,
      unsafe ridepulse_SSL_CTX_add_client_CAs(context, authorities, count) > 0
    else { throw .openSSL("client CA \(authority)") }
    let mode = SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT
    unsafe SSL_CTX_set_verify(context, mode, nil)
  }

  private static func bytes(of path: String, _ what: String) throws(GatewayError) -> [UInt8] {
    do throws(RegularFile.Failure) {
      return try RegularFile.read(path, limit: RegularFile.pemLimit)
    } catch {
      throw GatewayError("\(what) \(path): \(error)")
    }
  }

  /// SHA-256 of the certificate, in the form of `openssl x509 -fingerprint`.
  var fingerprint: String {
    var digest = [UInt8](repeating: 0, count: 32)
    var count: UInt32 = 0
    guard let certificate = unsafe SSL_CTX_get0_certificate(context),
      unsafe X509_digest(certificate, EVP_sha256(), &digest, &count) == 1
    else { return "" }
    return digest.map { ($0 < 16 ? "0" : "") + String($0, radix: 16, uppercase: true) }
      .joined(separator: ":")
  }

  /// Creates the TLS state of one connection; the caller owns it.
  func makeConnection() -> OpaquePointer? { unsafe SSL_new(context) }
}
