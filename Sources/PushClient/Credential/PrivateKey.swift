import COpenSSL
import SystemSupport

/// Owns one `EVP_PKEY`.
///
/// It is `@unchecked Sendable` because OpenSSL may sign with one key on many threads, and the key
/// never changes after `init`.
@safe
final class PrivateKey: @unchecked Sendable {
  let handle: OpaquePointer

  /// Why no key was loaded; no case contains any part of the key.
  enum LoadError: Error {
    /// The reason is the system's text.
    case unreadable(String)

    /// The file holds no unencrypted private key in PEM form.
    case notPrivateKey
  }

  /// Loads a key of any type from a file.
  convenience init(path: String) throws(LoadError) {
    var pem = try Self.bytes(of: path)
    defer { unsafe OPENSSL_cleanse(&pem, pem.count) }
    try self.init(pem: pem)
  }

  /// Loads a key of any type from PEM text.
  init(pem: [UInt8]) throws(LoadError) {
    // The BIO does not copy the bytes, so they must outlive it.
    let loaded = unsafe pem.withUnsafeBytes { bytes in unsafe Self.load(bytes) }
    unsafe handle = unsafe try loaded.get()
  }

  private static func load(_ pem: UnsafeRawBufferPointer) -> Result<OpaquePointer, LoadError> {
    guard let file = unsafe BIO_new_mem_buf(pem.baseAddress, Int32(clamping: pem.count)) else {
      return unsafe .failure(.unreadable("out of memory"))
    }
    defer { unsafe BIO_free_all(file) }
    // The callback supplies an empty passphrase; OpenSSL's default would prompt on the terminal and
    // hang a daemon.
    guard let key = unsafe PEM_read_bio_PrivateKey(file, nil, { _, _, _, _ in 0 }, nil) else {
      ERR_clear_error()
      return unsafe .failure(.notPrivateKey)
    }
    return unsafe .success(key)
  }

  deinit { unsafe EVP_PKEY_free(handle) }

  /// The limit in bytes; Apple's signing keys have about 250, an RSA key of 4096 bits about 3300.
  private static let sizeLimit = 64 * 1024

  private static func bytes(of path: String) throws(LoadError) -> [UInt8] {
    do throws(RegularFile.Failure) {
      return try RegularFile.read(path, limit: sizeLimit)
    } catch {
      throw .unreadable("\(error)")
    }
  }

  /// The name of the curve, or of the algorithm if the key has no curve.
  func groupName() -> String {
    var name = [CChar](repeating: 0, count: 64)
    var length = 0
    if unsafe EVP_PKEY_get_group_name(handle, &name, name.count, &length) == 1 {
      return String(decoding: name.prefix(length).map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
    ERR_clear_error()
    return unsafe EVP_PKEY_get0_type_name(handle).map { unsafe String(cString: $0) } ?? "unknown"
  }

  /// The size of the key in bits: that of an RSA key's modulus.
  var bits: Int { unsafe Int(EVP_PKEY_get_bits(handle)) }

  /// The SHA-256 hash of the public key's DER form.
  var fingerprint: [UInt8] {
    var encoded: UnsafeMutablePointer<UInt8>?
    let length = unsafe i2d_PUBKEY(handle, &encoded)
    guard length > 0, let start = unsafe encoded else { return [] }
    defer { unsafe ridepulse_OPENSSL_free(start) }
    return unsafe sha256(UnsafeRawBufferPointer(start: start, count: Int(length)))
  }

  /// Returns the ES256 signature of a message: r and s, 32 bytes each (RFC 7518, 3.4).
  func sign(_ message: [UInt8]) throws(SigningKeyError) -> [UInt8] {
    let encoded: [UInt8]
    // The DER form of two 32-byte integers takes at most 72 bytes.
    do throws(SigningFailure) { encoded = try digestSignature(of: message, limit: 80) } catch {
      throw .signing(error.text)
    }
    let parsed = unsafe encoded.withUnsafeBufferPointer { bytes in
      var cursor = bytes.baseAddress
      return unsafe d2i_ECDSA_SIG(nil, &cursor, bytes.count)
    }
    guard let parsed = unsafe parsed else { throw .signing(openSSLErrorText()) }
    defer { unsafe ECDSA_SIG_free(parsed) }
    var raw = [UInt8](repeating: 0, count: 64)
    let written = unsafe raw.withUnsafeMutableBufferPointer { out -> Int32 in
      guard let start = out.baseAddress else { return -1 }
      let first = unsafe BN_bn2binpad(ECDSA_SIG_get0_r(parsed), start, 32)
      return unsafe min(first, BN_bn2binpad(ECDSA_SIG_get0_s(parsed), start + 32, 32))
    }
    guard written == 32 else { throw .signing(openSSLErrorText()) }
    return raw
  }

  /// Returns the RS256 signature of a message: RSASSA-PKCS1-v1_5 with SHA-256 (RFC 7518, 3.3).
  func signRS256(_ message: [UInt8]) throws(SigningFailure) -> [UInt8] {
    try digestSignature(of: message, limit: Int(unsafe EVP_PKEY_get_size(handle)))
  }

  /// OpenSSL failed to sign; the text is its own.
  struct SigningFailure: Error, Hashable {
    let text: String
  }

  private func digestSignature(
    of message: [UInt8], limit: Int
  ) throws(SigningFailure) -> [UInt8] {
    guard let context = unsafe EVP_MD_CTX_new() else {
      throw SigningFailure(text: "out of memory")
    }
    defer { unsafe EVP_MD_CTX_free(context) }
    guard unsafe EVP_DigestSignInit(context, nil, EVP_sha256(), nil, handle) == 1 else {
      throw SigningFailure(text: openSSLErrorText())
    }
    var signature = [UInt8](repeating: 0, count: limit)
    var length = signature.count
    guard unsafe EVP_DigestSign(context, &signature, &length, message, message.count) == 1 else {
      throw SigningFailure(text: openSSLErrorText())
    }
    signature.removeLast(signature.count - length)
    return signature
  }
}

/// Returns the oldest error in OpenSSL's queue as text, and clears the queue.
func openSSLErrorText() -> String {
  var text = [CChar](repeating: 0, count: 256)
  unsafe ERR_error_string_n(ERR_get_error(), &text, text.count)
  ERR_clear_error()
  let bytes = text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:))
  return String(decoding: bytes, as: UTF8.self)
}

/// Returns the SHA-256 hash of some bytes.
func sha256(_ bytes: UnsafeRawBufferPointer) -> [UInt8] {
  var hash = [UInt8](repeating: 0, count: 32)
  var length: UInt32 = 0
  unsafe EVP_Digest(bytes.baseAddress, bytes.count, &hash, &length, EVP_sha256(), nil)
  return hash
}
