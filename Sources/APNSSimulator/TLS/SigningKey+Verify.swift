import COpenSSL

extension SigningKey {
  /// Verifies an ES256 signature (RFC 7518): 64 bytes, r then s.
  ///
  /// OpenSSL verifies only DER, so the signature is converted by OpenSSL's own functions.
  func verifies(signed: [UInt8], signature: [UInt8]) -> Bool {
    guard signature.count == 64, let encoded = Self.derEncoded(signature) else { return false }
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
