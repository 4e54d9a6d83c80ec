internal import COpenSSL
internal import Glibc

/// One TLS connection over a socket that does not block; owns both.
@safe final class TLSStream {
  enum Outcome: Equatable {
    case bytes(Int)
    case wantsRead
    case wantsWrite
    /// The peer has said, or shown, that no more comes.
    case ended
    case failed(String)
  }

  let socket: Int32
  private let ssl: OpaquePointer

  /// Takes the socket over, also where it fails.
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

  /// Moves the handshake on; `bytes(1)` where it is done.
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

  /// Tells the peer that no more comes, and keeps reading possible.
  func sendClose() {
    ERR_clear_error()
    unsafe SSL_shutdown(ssl)
    shutdown(socket, Int32(SHUT_WR))
  }

  /// Throws away what still comes: a socket that is closed over unread bytes tells its peer so, and
  /// the peer then loses what it had not read yet. False at the end.
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
      return number == 0 ? .ended : .failed(unsafe String(cString: strerror(number)))
    default: return .failed(complaint())
    }
  }

  private func complaint() -> String {
    let verdict = unsafe SSL_get_verify_result(ssl)
    let reason = openSSLReason() ?? "TLS failed"
    if verdict == X509_V_OK { return reason }
    let words = unsafe String(cString: X509_verify_cert_error_string(verdict))
    return "\(reason): \(words)"
  }
}

// Whom the peer's certificate names.
extension TLSStream {
  /// Whether the peer's certificate names an app: by its UID where it has one, else by its common
  /// name, alone or as Apple wrote it ("Apple Push Services: com.example.app").
  func peerNames(_ bundleID: String) -> Bool {
    guard let certificate = unsafe SSL_get0_peer_certificate(ssl) else { return false }
    let users = unsafe Self.names(certificate, NID_userId)
    if !users.isEmpty { return users.contains(bundleID) }
    return unsafe Self.names(certificate, NID_commonName).contains { name in
      name == bundleID || name.hasSuffix("Push Services: \(bundleID)")
    }
  }

  private static func names(_ certificate: OpaquePointer, _ kind: Int32) -> [String] {
    guard let subject = unsafe X509_get_subject_name(certificate) else { return [] }
    var names: [String] = []
    var place: Int32 = -1
    while true {
      place = unsafe X509_NAME_get_index_by_NID(subject, kind, place)
      guard place >= 0 else { return names }
      let data = unsafe X509_NAME_ENTRY_get_data(X509_NAME_get_entry(subject, place))
      var text: UnsafeMutablePointer<UInt8>?
      let count = unsafe ASN1_STRING_to_UTF8(&text, data)
      guard count >= 0, let start = unsafe text else { continue }
      // By its length, and not up to a NUL: that is how a name pretends to be another.
      let bytes = unsafe UnsafeBufferPointer(start: start, count: Int(count))
      names.append(unsafe String(decoding: bytes, as: UTF8.self))
      unsafe ridepulse_OPENSSL_free(start)
    }
  }
}
