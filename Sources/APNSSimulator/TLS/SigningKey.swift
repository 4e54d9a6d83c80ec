import COpenSSL

/// An EC P-256 key, complete or only its public half.
@safe final class SigningKey {
  private let key: OpaquePointer

  private init(owning key: OpaquePointer) {
    unsafe self.key = key
  }

  deinit {
    unsafe EVP_PKEY_free(key)
  }

  static func generate() throws(OpenSSLError) -> SigningKey {
    guard let key = unsafe ridepulse_EVP_EC_gen_P256() else { throw OpenSSLError("EVP_EC_gen") }
    return unsafe SigningKey(owning: key)
  }

  init(privatePEM: [UInt8]) throws(OpenSSLError) {
    let memory = try MemoryBIO(privatePEM)
    guard let key = unsafe PEM_read_bio_PrivateKey(memory.bio, nil, nil, nil) else {
      throw OpenSSLError("PEM_read_bio_PrivateKey")
    }
    unsafe self.key = key
  }

  init(publicPEM: [UInt8]) throws(OpenSSLError) {
    let memory = try MemoryBIO(publicPEM)
    guard let key = unsafe PEM_read_bio_PUBKEY(memory.bio, nil, nil, nil) else {
      throw OpenSSLError("PEM_read_bio_PUBKEY")
    }
    unsafe self.key = key
  }

  /// Calls the closure with a pointer that is valid only as long as the key; it must not escape.
  func withKey<Result>(_ body: (OpaquePointer) throws -> Result) rethrows -> Result {
    try unsafe body(key)
  }

  /// Returns the key as PKCS#8, the form of the `.p8` files from Apple's portal.
  func privatePEM() throws(OpenSSLError) -> [UInt8] {
    let memory = try MemoryBIO()
    guard unsafe PEM_write_bio_PKCS8PrivateKey(memory.bio, key, nil, nil, 0, nil, nil) == 1 else {
      throw OpenSSLError("PEM_write_bio_PKCS8PrivateKey")
    }
    return memory.bytes
  }

  func publicPEM() throws(OpenSSLError) -> [UInt8] {
    let memory = try MemoryBIO()
    guard unsafe PEM_write_bio_PUBKEY(memory.bio, key) == 1 else {
      throw OpenSSLError("PEM_write_bio_PUBKEY")
    }
    return memory.bytes
  }
}
