package import Base
import COpenSSL
import Glibc
import RideCore
import SystemSupport

/// A certificate with which the client identifies itself in the TLS handshake, instead of a provider
/// token.
///
/// It is `@unchecked Sendable` because OpenSSL may use one key on many threads, and nothing changes
/// after `init`.
package struct ClientCertificate: @unchecked Sendable, CustomStringConvertible {
  /// The common name of the certificate's subject, such as `Apple Push Services: com.example.app`.
  package let commonName: String

  /// The bundle ID that Apple writes into the subject (UID); nil if it has none.
  package let bundleID: String?

  /// APNs accepts the certificate until this time.
  package let expires: Timestamp

  /// The certificate and those that lead to its authority, as PEM text.
  private let chain: [UInt8]
  private let key: PrivateKey
  private let fingerprint: [UInt8]

  /// Loads a PEM file of certificates, the app's first, and the file of its private key.
  ///
  /// - Throws: `ClientCertificateError`, which contains the files and the problem but no part of the
  ///   key.
  package init(path: String, keyPath: String) throws(ClientCertificateError) {
    do throws(RegularFile.Failure) {
      chain = try RegularFile.read(path, limit: RegularFile.pemLimit)
    } catch {
      throw .unreadable(path: path, reason: "\(error)")
    }
    do throws(PrivateKey.LoadError) { key = try PrivateKey(path: keyPath) } catch {
      switch error {
      case .unreadable(let reason): throw .unreadable(path: keyPath, reason: reason)
      case .notPrivateKey: throw .notPrivateKey(path: keyPath)
      }
    }
    let leaf = try Leaf(chain, path: path)
    guard leaf.belongs(to: key) else { throw .mismatch(path: path, keyPath: keyPath) }
    commonName = leaf.text(NID_commonName) ?? "without a name"
    bundleID = leaf.text(NID_userId)
    guard let expires = leaf.expires else { throw .notCertificate(path: path) }
    self.expires = expires
    fingerprint = unsafe chain.withUnsafeBytes { unsafe sha256($0) }
  }

  /// The subject's name, without the key.
  package var description: String { "client certificate \(commonName)" }

  /// Makes a TLS context present the certificate; returns false if OpenSSL refuses it.
  func install(in context: OpaquePointer) -> Bool {
    let isUsed =
      unsafe ridepulse_SSL_CTX_use_chain(context, chain, Int32(clamping: chain.count)) == 1
      && SSL_CTX_use_PrivateKey(context, key.handle) == 1
    if !isUsed { ERR_clear_error() }
    return isUsed
  }
}

extension ClientCertificate: Hashable {
  package static func == (left: ClientCertificate, right: ClientCertificate) -> Bool {
    left.fingerprint == right.fingerprint
  }

  package func hash(into hasher: inout Hasher) { hasher.combine(fingerprint) }
}

/// Owns the first certificate of a PEM text.
@safe
private final class Leaf {
  private let certificate: OpaquePointer

  init(_ pem: [UInt8], path: String) throws(ClientCertificateError) {
    // The BIO does not copy the bytes, so they must outlive it.
    let certificate = unsafe pem.withUnsafeBytes { bytes in
      let file = unsafe BIO_new_mem_buf(bytes.baseAddress, Int32(clamping: bytes.count))
      defer { unsafe BIO_free(file) }
      return unsafe PEM_read_bio_X509(file, nil, { _, _, _, _ in 0 }, nil)
    }
    guard let certificate = unsafe certificate else {
      ERR_clear_error()
      throw .notCertificate(path: path)
    }
    unsafe self.certificate = unsafe certificate
  }

  deinit { unsafe X509_free(certificate) }

  func belongs(to key: PrivateKey) -> Bool {
    defer { ERR_clear_error() }
    return unsafe X509_check_private_key(certificate, key.handle) == 1
  }

  /// Returns a part of the subject's name; nil if there is none.
  func text(_ part: Int32) -> String? {
    var text = [CChar](repeating: 0, count: 256)
    let length = unsafe X509_NAME_get_text_by_NID(
      X509_get_subject_name(certificate), part, &text, Int32(text.count))
    guard length > 0 else { return nil }
    return String(decoding: text.prefix(Int(length)).map(UInt8.init(bitPattern:)), as: UTF8.self)
  }

  var expires: Timestamp? {
    var parts = unsafe tm()
    guard unsafe ASN1_TIME_to_tm(X509_get0_notAfter(certificate), &parts) == 1 else { return nil }
    return Timestamp(epochSeconds: Int64(unsafe timegm(&parts)))
  }
}

/// Why a client certificate can't be used; no case contains any part of its key.
package enum ClientCertificateError: Error, Hashable, Sendable {
  /// A file can't be read; the reason is the system's text.
  case unreadable(path: String, reason: String)

  /// The file holds no certificate in PEM form.
  case notCertificate(path: String)

  /// The file holds no unencrypted private key in PEM form.
  case notPrivateKey(path: String)

  /// The key is that of another certificate.
  case mismatch(path: String, keyPath: String)
}

extension ClientCertificateError: CustomStringConvertible {
  /// The problem and the expected form; safe to log.
  package var description: String {
    switch self {
    case .unreadable(let path, let reason): "can't read \(path): \(reason)"
    case .notCertificate(let path):
      "\(path) holds no certificate: expected PEM text that begins with "
        + "\"-----BEGIN CERTIFICATE-----\" (openssl x509 -inform der -in aps.cer converts Apple's file)"
    case .notPrivateKey(let path):
      "\(path) holds no unencrypted private key: expected PEM text that begins with "
        + "\"-----BEGIN PRIVATE KEY-----\" (openssl pkcs12 -nodes -nocerts converts a .p12 file)"
    case .mismatch(let path, let keyPath):
      "the key \(keyPath) does not belong to the first certificate in \(path)"
    }
  }
}
