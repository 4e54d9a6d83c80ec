import COpenSSL

/// A key of EC P-256 or RSA, complete or only its public half.
@safe package final class SigningKey {
  private let key: OpaquePointer

  private init(owning key: OpaquePointer) {
    unsafe self.key = key
  }

  deinit {
    unsafe EVP_PKEY_free(key)
  }

  package static func generate() throws(OpenSSLError) -> SigningKey {
    guard let key = unsafe ridepulse_EVP_EC_gen_P256() else { throw OpenSSLError("EVP_EC_gen") }
    return unsafe SigningKey(owning: key)
  }

  package static func generateRSA() throws(OpenSSLError) -> SigningKey {
    guard let key = unsafe ridepulse_EVP_RSA_gen(2048) else { throw OpenSSLError("EVP_RSA_gen") }
    return unsafe SigningKey(owning: key)
  }

  package init(privatePEM: [UInt8]) throws(OpenSSLError) {
    let memory = try MemoryBIO(privatePEM)
    guard let key = unsafe PEM_read_bio_PrivateKey(memory.bio, nil, nil, nil) else {
      throw OpenSSLError("PEM_read_bio_PrivateKey")
    }
    unsafe self.key = key
  }

  package init(publicPEM: [UInt8]) throws(OpenSSLError) {
    let memory = try MemoryBIO(publicPEM)
    guard let key = unsafe PEM_read_bio_PUBKEY(memory.bio, nil, nil, nil) else {
      throw OpenSSLError("PEM_read_bio_PUBKEY")
    }
    unsafe self.key = key
  }

  /// Calls the closure with a pointer that is valid only as long as the key; it must not escape.
  package func withKey<Result>(_ body: (OpaquePointer) throws -> Result) rethrows -> Result {
    try unsafe body(key)
  }

  /// Returns the key as PKCS#8, the form of the `.p8` files from Apple's portal.
  package func privatePEM() throws(OpenSSLError) -> [UInt8] {
    let memory = try MemoryBIO()
    guard unsafe PEM_write_bio_PKCS8PrivateKey(memory.bio, key, nil, nil, 0, nil, nil) == 1 else {
      throw OpenSSLError("PEM_write_bio_PKCS8PrivateKey")
    }
    return memory.bytes
  }

  package func publicPEM() throws(OpenSSLError) -> [UInt8] {
    let memory = try MemoryBIO()
    guard unsafe PEM_write_bio_PUBKEY(memory.bio, key) == 1 else {
      throw OpenSSLError("PEM_write_bio_PUBKEY")
    }
    return memory.bytes
  }
}

extension SigningKey {
  /// Verifies an ES256 signature (RFC 7518): 64 bytes, r then s.
  ///
  /// OpenSSL verifies only DER, so the signature is converted by OpenSSL's own functions.
  package func verifies(signed: [UInt8], signature: [UInt8]) -> Bool {
    guard signature.count == 64, let encoded = Self.derEncoded(signature) else { return false }
    return verifies(signed, encoded)
  }

  /// Verifies an RS256 signature (RFC 7518), which OpenSSL reads as it is.
  package func verifiesRS256(signed: [UInt8], signature: [UInt8]) -> Bool {
    guard unsafe withKey({ unsafe EVP_PKEY_is_a($0, "RSA") }) == 1 else { return false }
    return verifies(signed, signature)
  }

  private func verifies(_ signed: [UInt8], _ encoded: [UInt8]) -> Bool {
    guard let digest = unsafe EVP_MD_CTX_new() else { return false }
    defer {
      unsafe EVP_MD_CTX_free(digest)
      ERR_clear_error()
    }
    return unsafe withKey { key in
      unsafe EVP_DigestVerifyInit(digest, nil, EVP_sha256(), nil, key) == 1
        && EVP_DigestVerify(digest, encoded, encoded.count, signed, signed.count) == 1
    }
  }

  private static func derEncoded(_ signature: [UInt8]) -> [UInt8]? {
    guard let parts = unsafe ECDSA_SIG_new() else { return nil }
    defer { unsafe ECDSA_SIG_free(parts) }
    let r = unsafe BN_bin2bn(Array(signature[..<32]), 32, nil)
    let s = unsafe BN_bin2bn(Array(signature[32...]), 32, nil)
    guard unsafe ECDSA_SIG_set0(parts, r, s) == 1 else {
      unsafe BN_free(r)
      unsafe BN_free(s)
      return nil
    }
    let length = unsafe i2d_ECDSA_SIG(parts, nil)
    guard length > 0 else { return nil }
    var encoded = [UInt8](repeating: 0, count: Int(length))
    let written = unsafe encoded.withUnsafeMutableBufferPointer { buffer in
      var end = buffer.baseAddress
      return unsafe i2d_ECDSA_SIG(parts, &end)
    }
    return written == length ? encoded : nil
  }
}

/// Reads and writes PEM text in memory through OpenSSL.
@safe package final class MemoryBIO {
  package let bio: OpaquePointer

  package init() throws(OpenSSLError) {
    guard let bio = unsafe BIO_new(BIO_s_mem()) else { throw OpenSSLError("BIO_new") }
    unsafe self.bio = bio
  }

  package convenience init(_ bytes: [UInt8]) throws(OpenSSLError) {
    try self.init()
    guard unsafe BIO_write(bio, bytes, Int32(clamping: bytes.count)) == Int32(bytes.count) else {
      throw OpenSSLError("BIO_write")
    }
  }

  deinit {
    unsafe BIO_free(bio)
  }

  package var bytes: [UInt8] {
    var data: UnsafeMutablePointer<CChar>?
    let count = unsafe ridepulse_BIO_get_mem_data(bio, &data)
    guard let start = unsafe data, count > 0 else { return [] }
    return unsafe Array(UnsafeRawBufferPointer(start: start, count: count))
  }
}

/// A failed OpenSSL call, with the library's error text.
package struct OpenSSLError: Error, CustomStringConvertible {
  package let call: String
  package let reason: String

  package init(_ call: String) {
    self.call = call
    let code = ERR_get_error()
    var text = [CChar](repeating: 0, count: 256)
    unsafe ERR_error_string_n(code, &text, text.count)
    let bytes = text.map { UInt8(bitPattern: $0) }.prefix { $0 != 0 }
    reason = code == 0 ? "no reason given" : String(decoding: bytes, as: UTF8.self)
    ERR_clear_error()
  }

  package var description: String { "\(call): \(reason)" }
}
