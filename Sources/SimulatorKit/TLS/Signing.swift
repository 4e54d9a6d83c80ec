import COpenSSL

extension SigningKey {
  /// Signs by ES256 (RFC 7518): 64 bytes, r then s; OpenSSL's own form is DER.
  package func signature(of signed: [UInt8]) throws(OpenSSLError) -> [UInt8] {
    let encoded = try derSignature(of: signed)
    let parts = unsafe encoded.withUnsafeBufferPointer { buffer in
      var start = buffer.baseAddress
      return unsafe d2i_ECDSA_SIG(nil, &start, buffer.count)
    }
    guard let parts = unsafe parts else { throw OpenSSLError("d2i_ECDSA_SIG") }
    defer { unsafe ECDSA_SIG_free(parts) }
    var (r, s) = ([UInt8](repeating: 0, count: 32), [UInt8](repeating: 0, count: 32))
    guard unsafe BN_bn2binpad(ECDSA_SIG_get0_r(parts), &r, 32) == 32,
      unsafe BN_bn2binpad(ECDSA_SIG_get0_s(parts), &s, 32) == 32
    else { throw OpenSSLError("BN_bn2binpad") }
    return r + s
  }

  private func derSignature(of signed: [UInt8]) throws(OpenSSLError) -> [UInt8] {
    guard let digest = unsafe EVP_MD_CTX_new() else { throw OpenSSLError("EVP_MD_CTX_new") }
    defer { unsafe EVP_MD_CTX_free(digest) }
    var length = 0
    var encoded: [UInt8] = []
    let isSigned = unsafe withKey { key in
      guard unsafe EVP_DigestSignInit(digest, nil, EVP_sha256(), nil, key) == 1,
        unsafe EVP_DigestSign(digest, nil, &length, signed, signed.count) == 1
      else { return false }
      encoded = [UInt8](repeating: 0, count: length)
      return unsafe EVP_DigestSign(digest, &encoded, &length, signed, signed.count) == 1
    }
    guard isSigned else { throw OpenSSLError("EVP_DigestSign") }
    return Array(encoded.prefix(length))
  }
}
