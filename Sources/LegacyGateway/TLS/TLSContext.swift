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

/// The certificate that the gateway presents.
package enum ServerIdentity: Hashable, Sendable {
  /// A certificate chain and its key, as PEM files.
  case files(certificate: String, key: String)
  /// A generated certificate for a name, which lasts as long as the process.
  case selfSigned(name: String)
}

/// A self-signed certificate and its key, in memory.
@safe final class SelfSigned {
  private static let validSeconds = 397 * 86_400

  private let key: OpaquePointer
  private let certificate: OpaquePointer

  init(name: String) throws(GatewayError) {
    guard let key = unsafe ridepulse_EVP_EC_gen_P256() else { throw .openSSL("EVP_EC_gen") }
    guard let certificate = unsafe X509_new() else {
      unsafe EVP_PKEY_free(key)
      throw .openSSL("X509_new")
    }
    unsafe self.key = key
    unsafe self.certificate = certificate
    try fill(name)
  }

  deinit {
    unsafe X509_free(certificate)
    unsafe EVP_PKEY_free(key)
  }

  private func fill(_ name: String) throws(GatewayError) {
    unsafe X509_set_version(certificate, 2)
    unsafe ASN1_INTEGER_set_int64(
      X509_get_serialNumber(certificate), Int64.random(in: 1...Int64.max))
    // A day in the past, so that a sender whose clock is behind accepts the certificate.
    unsafe X509_gmtime_adj(X509_getm_notBefore(certificate), -86_400)
    unsafe X509_gmtime_adj(X509_getm_notAfter(certificate), Self.validSeconds)
    let subject = unsafe X509_get_subject_name(certificate)
    let bytes = Array(name.utf8)
    let isNamed = unsafe X509_NAME_add_entry_by_NID(
      subject, NID_commonName, MBSTRING_UTF8, bytes, Int32(clamping: bytes.count), -1, 0)
    guard isNamed == 1, unsafe X509_set_issuer_name(certificate, subject) == 1,
      unsafe X509_set_pubkey(certificate, key) == 1
    else { throw .openSSL("certificate for \(name)") }
    try extend(NID_subject_alt_name, "DNS:\(name),DNS:localhost,IP:127.0.0.1,IP:::1")
    try extend(NID_ext_key_usage, "serverAuth")
    guard unsafe X509_sign(certificate, key, EVP_sha256()) > 0 else {
      throw .openSSL("X509_sign")
    }
  }

  private func extend(_ identifier: Int32, _ value: String) throws(GatewayError) {
    guard let made = unsafe X509V3_EXT_conf_nid(nil, nil, identifier, value) else {
      throw .openSSL("certificate for \(value)")
    }
    defer { unsafe X509_EXTENSION_free(made) }
    guard unsafe X509_add_ext(certificate, made, -1) == 1 else {
      throw .openSSL("X509_add_ext")
    }
  }

  func use(in context: OpaquePointer) -> Bool {
    unsafe SSL_CTX_use_certificate(context, certificate) == 1
      && SSL_CTX_use_PrivateKey(context, key) == 1
  }
}
