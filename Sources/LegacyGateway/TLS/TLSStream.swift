internal import COpenSSL
internal import Glibc
internal import SystemSupport

/// A TLS connection over a non-blocking socket; owns both.
@safe final class TLSStream {
  enum Outcome: Equatable {
    case bytes(Int)
    case wantsRead
    case wantsWrite
    /// The peer has closed the connection, with or without notice.
    case ended
    case failed(String)
  }

  let socket: Int32
  let ssl: OpaquePointer

  /// Takes ownership of the socket, even if it fails.
  init?(socket: Int32, context: TLSContext) {
    guard let ssl = unsafe context.makeConnection() else {
      close(socket)
      return nil
    }
    unsafe self.ssl = ssl
    self.socket = socket
    unsafe SSL_set_accept_state(ssl)
    guard unsafe SSL_set_fd(ssl, socket) == 1 else { return nil }
  }

  deinit {
    unsafe SSL_free(ssl)
    close(socket)
  }

  /// Continues the handshake; returns `bytes(1)` when it is complete.
  func handshake() -> Outcome {
    ERR_clear_error()
    return outcome(unsafe SSL_do_handshake(ssl))
  }

  func read(into buffer: inout [UInt8]) -> Outcome {
    ERR_clear_error()
    return outcome(unsafe SSL_read(ssl, &buffer, Int32(clamping: buffer.count)))
  }

  func write(_ bytes: ArraySlice<UInt8>) -> Outcome {
    ERR_clear_error()
    let count = unsafe bytes.withUnsafeBytes { bytes in
      unsafe SSL_write(ssl, bytes.baseAddress, Int32(clamping: bytes.count))
    }
    return outcome(count)
  }

  /// Notifies the peer that no more bytes follow; reading remains possible.
  func sendClose() {
    ERR_clear_error()
    unsafe SSL_shutdown(ssl)
    SocketShutdown.writing.apply(to: socket)
  }

  /// Discards received bytes; returns false at their end.
  ///
  /// Closing a socket with unread bytes resets the connection, and the peer then loses what it had
  /// not read yet.
  func discard(into buffer: inout [UInt8]) -> Bool {
    while true {
      let count = unsafe recv(socket, &buffer, buffer.count, 0)
      if count == 0 { return false }
      if count < 0 { return errno == EAGAIN || errno == EINTR }
    }
  }

  private func outcome(_ count: Int32) -> Outcome {
    if count > 0 { return .bytes(Int(count)) }
    let number = errno
    switch unsafe SSL_get_error(ssl, count) {
    case SSL_ERROR_WANT_READ: return .wantsRead
    case SSL_ERROR_WANT_WRITE: return .wantsWrite
    case SSL_ERROR_ZERO_RETURN: return .ended
    case SSL_ERROR_SYSCALL:
      return number == 0 ? .ended : .failed(SystemError.text(number))
    default: return .failed(failureText())
    }
  }

  private func failureText() -> String {
    let verdict = unsafe SSL_get_verify_result(ssl)
    let reason = openSSLReason() ?? "TLS failed"
    if verdict == X509_V_OK { return reason }
    let detail = unsafe String(cString: X509_verify_cert_error_string(verdict))
    return "\(reason): \(detail)"
  }
}

/// The app that a certificate is for, according to its subject.
struct CertificateSubject: Equatable {
  /// Values of UID, byte for byte.
  var users: [[UInt8]] = []
  /// Values of CN, byte for byte.
  var commonNames: [[UInt8]] = []

  /// The prefixes that Apple put before the bundle ID in the certificates of its own service.
  private static let applePrefixes = [
    "Apple Push Services: ", "Apple Production IOS Push Services: ",
    "Apple Development IOS Push Services: ", "Apple Sandbox Push Services: ",
    "Apple Production Mac Push Services: ", "Apple Development Mac Push Services: ",
  ]

  /// Returns whether the certificate is for an app.
  ///
  /// Its UID decides if it has one, otherwise its CN, alone or in Apple's form. Names are compared
  /// as a whole and as bytes: a certificate that has the bundle ID within a longer name, or next to
  /// another name, is for another app.
  func names(_ bundleID: String) -> Bool {
    let names = users.isEmpty ? commonNames : users
    guard names.count == 1, let name = names.first else { return false }
    if name.elementsEqual(bundleID.utf8) { return true }
    return users.isEmpty
      && Self.applePrefixes.contains { name.elementsEqual(($0 + bundleID).utf8) }
  }
}

extension TLSStream {
  /// The subject of the peer's certificate; nil if it has none.
  var peerSubject: CertificateSubject? {
    guard let certificate = unsafe SSL_get0_peer_certificate(ssl) else { return nil }
    return unsafe CertificateSubject(
      users: Self.names(certificate, NID_userId),
      commonNames: Self.names(certificate, NID_commonName))
  }

  private static func names(_ certificate: OpaquePointer, _ kind: Int32) -> [[UInt8]] {
    guard let subject = unsafe X509_get_subject_name(certificate) else { return [] }
    var names: [[UInt8]] = []
    var index: Int32 = -1
    while true {
      index = unsafe X509_NAME_get_index_by_NID(subject, kind, index)
      guard index >= 0 else { return names }
      let data = unsafe X509_NAME_ENTRY_get_data(X509_NAME_get_entry(subject, index))
      var text: UnsafeMutablePointer<UInt8>?
      let count = unsafe ASN1_STRING_to_UTF8(&text, data)
      guard count >= 0, let start = unsafe text else {
        // A name that can't be decoded still counts as a name.
        names.append([])
        continue
      }
      // The length counts, not a NUL: an embedded NUL would make a name look like another.
      names.append(unsafe Array(UnsafeBufferPointer(start: start, count: Int(count))))
      unsafe ridepulse_OPENSSL_free(start)
    }
  }
}
