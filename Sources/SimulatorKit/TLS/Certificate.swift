import COpenSSL

/// An X.509 certificate under construction; it is signed when it is complete.
@safe final class Certificate {
  private static let validSeconds = 10 * 365 * 86_400

  private let certificate: OpaquePointer

  private init(subject: String, issuer: String, key: SigningKey) throws(OpenSSLError) {
    guard let certificate = unsafe X509_new() else { throw OpenSSLError("X509_new") }
    unsafe self.certificate = certificate
    unsafe X509_set_version(certificate, 2)
    let serial = Int64.random(in: 1...Int64.max)
    unsafe ASN1_INTEGER_set_int64(X509_get_serialNumber(certificate), serial)
    // A day in the past, so that a client whose clock is behind accepts the certificate.
    unsafe X509_gmtime_adj(X509_getm_notBefore(certificate), -86_400)
    unsafe X509_gmtime_adj(X509_getm_notAfter(certificate), Self.validSeconds)
    try unsafe Self.setCommonName(subject, of: X509_get_subject_name(certificate))
    try unsafe Self.setCommonName(issuer, of: X509_get_issuer_name(certificate))
    guard unsafe key.withKey({ unsafe X509_set_pubkey(certificate, $0) }) == 1 else {
      throw OpenSSLError("X509_set_pubkey")
    }
  }

  deinit {
    unsafe X509_free(certificate)
  }

  static func authority(named name: String, key: SigningKey) throws(OpenSSLError) -> Certificate {
    let made = try Certificate(subject: name, issuer: name, key: key)
    try made.extend(NID_basic_constraints, "critical,CA:TRUE,pathlen:0", issuer: made)
    try made.extend(NID_key_usage, "critical,keyCertSign,cRLSign", issuer: made)
    try made.extend(NID_subject_key_identifier, "hash", issuer: made)
    try made.sign(with: key)
    return made
  }

  static func server(
    named name: String, key: SigningKey, authority: Certificate, authorityName: String,
    authorityKey: SigningKey
  ) throws(OpenSSLError) -> Certificate {
    let made = try Certificate(subject: name, issuer: authorityName, key: key)
    try made.extend(NID_basic_constraints, "critical,CA:FALSE", issuer: authority)
    try made.extend(NID_key_usage, "critical,digitalSignature", issuer: authority)
    try made.extend(NID_ext_key_usage, "serverAuth", issuer: authority)
    let names = "DNS:localhost,IP:127.0.0.1,IP:::1"
    try made.extend(NID_subject_alt_name, names, issuer: authority)
    try made.extend(NID_subject_key_identifier, "hash", issuer: authority)
    try made.extend(NID_authority_key_identifier, "keyid", issuer: authority)
    try made.sign(with: authorityKey)
    return made
  }

  func pem() throws(OpenSSLError) -> [UInt8] {
    let memory = try MemoryBIO()
    guard unsafe PEM_write_bio_X509(memory.bio, certificate) == 1 else {
      throw OpenSSLError("PEM_write_bio_X509")
    }
    return memory.bytes
  }

  private static func setCommonName(
    _ text: String, of name: OpaquePointer?
  ) throws(OpenSSLError) {
    let bytes = Array(text.utf8)
    let added = unsafe X509_NAME_add_entry_by_NID(
      name, NID_commonName, MBSTRING_UTF8, bytes, Int32(bytes.count), -1, 0)
    guard added == 1 else { throw OpenSSLError("X509_NAME_add_entry_by_NID") }
  }

  private func extend(
    _ identifier: Int32, _ value: String, issuer: Certificate
  ) throws(OpenSSLError) {
    var context = unsafe X509V3_CTX()
    unsafe X509V3_set_ctx(&context, issuer.certificate, certificate, nil, nil, 0)
    guard let made = unsafe X509V3_EXT_conf_nid(nil, &context, identifier, value) else {
      throw OpenSSLError("X509V3_EXT_conf_nid \(value)")
    }
    defer { unsafe X509_EXTENSION_free(made) }
    guard unsafe X509_add_ext(certificate, made, -1) == 1 else {
      throw OpenSSLError("X509_add_ext \(value)")
    }
  }

  private func sign(with key: SigningKey) throws(OpenSSLError) {
    guard unsafe key.withKey({ unsafe X509_sign(certificate, $0, EVP_sha256()) }) > 0 else {
      throw OpenSSLError("X509_sign")
    }
  }
}
