import COpenSSL
import SystemSupport

/// The .p8 key with which a team signs its provider tokens.
package struct SigningKey: Sendable, CustomStringConvertible {
  /// The ID that Apple gave the key.
  package let keyID: String

  /// The team that owns the key.
  package let teamID: String

  let key: PrivateKey

  /// Loads the key from a file.
  ///
  /// - Throws: `SigningKeyError`, which contains the file and the problem but no part of the key.
  package init(path: String, keyID: String, teamID: String) throws(SigningKeyError) {
    guard Self.isTenCharacterID(keyID) else { throw .badKeyID(keyID) }
    guard Self.isTenCharacterID(teamID) else { throw .badTeamID(teamID) }
    self.keyID = keyID
    self.teamID = teamID
    key = try PrivateKey(path: path)
  }

  /// Checks a key file, whatever its name.
  ///
  /// - Throws: `SigningKeyError` if the file can't be used for signing.
  package static func check(path: String) throws(SigningKeyError) {
    _ = try PrivateKey(path: path)
  }

  /// The IDs, without the key.
  package var description: String { "APNs signing key \(keyID) of team \(teamID)" }

  /// Returns whether a text has the form of a key ID or team ID: ten characters of A-Z and 0-9.
  package static func isTenCharacterID(_ text: String) -> Bool {
    text.utf8.count == 10
      && text.utf8.allSatisfy {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0)
          || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0)
      }
  }
}

/// Owns one `EVP_PKEY`.
///
/// It is `@unchecked Sendable` because OpenSSL may sign with one key on many threads, and the key
/// never changes after `init`.
@safe
final class PrivateKey: @unchecked Sendable {
  private let handle: OpaquePointer

  init(path: String) throws(SigningKeyError) {
    var pem = try Self.bytes(of: path)
    defer { unsafe OPENSSL_cleanse(&pem, pem.count) }
    guard let file = unsafe BIO_new_mem_buf(pem, Int32(clamping: pem.count)) else {
      throw .unreadable(path: path, reason: "out of memory")
    }
    defer { unsafe BIO_free_all(file) }
    // The callback supplies an empty passphrase; OpenSSL's default would prompt on the terminal and
    // hang a daemon.
    guard let key = unsafe PEM_read_bio_PrivateKey(file, nil, { _, _, _, _ in 0 }, nil) else {
      ERR_clear_error()
      throw .notPrivateKey(path: path)
    }
    unsafe handle = unsafe key
    let kind = groupName()
    guard kind == "prime256v1" else { throw .notP256(path: path, found: kind) }
  }

  deinit { unsafe EVP_PKEY_free(handle) }

  /// The limit in bytes; Apple's keys have about 250.
  private static let sizeLimit = 64 * 1024

  private static func bytes(of path: String) throws(SigningKeyError) -> [UInt8] {
    do throws(RegularFile.Failure) {
      return try RegularFile.read(path, limit: sizeLimit)
    } catch {
      throw .unreadable(path: path, reason: "\(error)")
    }
  }

  /// The name of the curve, or of the algorithm if the key has no curve.
  private func groupName() -> String {
    var name = [CChar](repeating: 0, count: 64)
    var length = 0
    if unsafe EVP_PKEY_get_group_name(handle, &name, name.count, &length) == 1 {
      return String(decoding: name.prefix(length).map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
    ERR_clear_error()
    return unsafe EVP_PKEY_get0_type_name(handle).map { unsafe String(cString: $0) } ?? "unknown"
  }

  /// Returns the ES256 signature of a message: r and s, 32 bytes each (RFC 7518, 3.4).
  func sign(_ message: [UInt8]) throws(SigningKeyError) -> [UInt8] {
    let encoded = try signatureDER(of: message)
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

  private func signatureDER(of message: [UInt8]) throws(SigningKeyError) -> [UInt8] {
    guard let context = unsafe EVP_MD_CTX_new() else { throw .signing("out of memory") }
    defer { unsafe EVP_MD_CTX_free(context) }
    guard unsafe EVP_DigestSignInit(context, nil, EVP_sha256(), nil, handle) == 1 else {
      throw .signing(openSSLErrorText())
    }
    // The DER form of two 32-byte integers takes at most 72 bytes.
    var signature = [UInt8](repeating: 0, count: 80)
    var length = signature.count
    guard unsafe EVP_DigestSign(context, &signature, &length, message, message.count) == 1 else {
      throw .signing(openSSLErrorText())
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

/// Why a signing key can't be used; no case contains any part of the key.
package enum SigningKeyError: Error, Hashable, Sendable {
  /// The file can't be read; the reason is the system's text.
  case unreadable(path: String, reason: String)

  /// The file holds no unencrypted private key in PEM form.
  case notPrivateKey(path: String)

  /// The file holds a key of another type.
  case notP256(path: String, found: String)

  /// The key ID is not ten characters of A-Z and 0-9.
  case badKeyID(String)

  /// The team ID is not ten characters of A-Z and 0-9.
  case badTeamID(String)

  /// OpenSSL failed to sign; the text is its own.
  case signing(String)
}

extension SigningKeyError: CustomStringConvertible {
  /// The problem and the expected form; safe to log.
  package var description: String {
    switch self {
    case .unreadable(let path, let reason):
      "can't read the APNs signing key \(path): \(reason)"
    case .notPrivateKey(let path):
      "\(path) holds no APNs signing key: expected the .p8 file from Apple, which begins with "
        + "\"-----BEGIN PRIVATE KEY-----\""
    case .notP256(let path, let found):
      "\(path) holds a key of type \(found): expected an EC key on P-256 (prime256v1), as in "
        + "Apple's .p8 file"
    case .badKeyID(let value):
      "\"\(value)\" is no APNs key ID: expected 10 characters of A-Z and 0-9"
    case .badTeamID(let value):
      "\"\(value)\" is no Apple team ID: expected 10 characters of A-Z and 0-9"
    case .signing(let reason):
      "OpenSSL could not sign the provider token: \(reason)"
    }
  }
}
