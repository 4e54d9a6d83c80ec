internal import COpenSSL

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
