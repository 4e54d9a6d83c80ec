import COpenSSL
import Synchronization

/// Prepares TLS for a connection that curl opens, and records the result of the handshake.
final class TLSVerifier: Sendable {
  let caFile: String?
  private let cancelled = Atomic(false)
  private let problem = Mutex<String?>(nil)
  private let hasAgreed = Atomic(false)
  private let hasRefused = Atomic(false)

  private let certificate: ClientCertificate?
  private let readsAhead: Bool
  private let offersHTTP2: Bool

  /// - Parameters:
  ///   - certificate: What the client presents if the server asks for a certificate.
  ///   - readsAhead: False if curl itself reads the answers: it polls the socket and would miss
  ///     bytes that OpenSSL has already read from it.
  ///   - offersHTTP2: False for a request over HTTP/1.1.
  init(
    caFile: String?, certificate: ClientCertificate? = nil, readsAhead: Bool = true,
    offersHTTP2: Bool = true
  ) {
    self.caFile = caFile
    self.certificate = certificate
    self.readsAhead = readsAhead
    self.offersHTTP2 = offersHTTP2
  }

  var isCancelled: Bool { cancelled.load(ordering: .relaxed) }

  /// Cancels the opening; curl reacts within about a second.
  func cancel() { cancelled.store(true, ordering: .relaxed) }

  /// The problem met by `prepare`, which curl itself reports only as a number.
  var preparationProblem: String? { problem.withLock { $0 } }

  /// True if the last handshake agreed on HTTP/2.
  var hasAgreedOnHTTP2: Bool { hasAgreed.load(ordering: .relaxed) }

  /// True if the server has refused the client certificate.
  var isCertificateRefused: Bool { hasRefused.load(ordering: .relaxed) }

  /// Requests the protocol and installs the certificates; returns false if that fails.
  func prepare(_ context: OpaquePointer) -> Bool {
    // If curl negotiated ALPN, it would start its own HTTP/2 session and refuse curl_easy_send; for
    // requests over curl's own HTTP/2, it would also accept HTTP/1.1.
    let name = Array((offersHTTP2 ? "h2" : "http/1.1").utf8)
    let protocols = [UInt8(name.count)] + name
    guard unsafe SSL_CTX_set_alpn_protos(context, protocols, UInt32(protocols.count)) == 0 else {
      problem.withLock { $0 = "OpenSSL refused the ALPN list" }
      return false
    }
    if let certificate, unsafe !certificate.install(in: context) {
      problem.withLock { $0 = "OpenSSL refused the \(certificate)" }
      return false
    }
    // Reads all available bytes at once, instead of two reads for each TLS record.
    if readsAhead { unsafe _ = ridepulse_SSL_CTX_set_read_ahead(context, 1) }
    // After CONNECT_ONLY, curl does not expose its TLS session until the first byte is transferred.
    // So a callback reads the result of the handshake, and an alert that follows; OpenSSL's context
    // holds the pointer back to this object.
    guard contextSlot >= 0 else { return false }
    let anchor = unsafe Unmanaged.passUnretained(self).toOpaque()
    unsafe SSL_CTX_set_ex_data(context, contextSlot, anchor)
    unsafe SSL_CTX_set_info_callback(context, record)
    do throws(TrustedAuthorities.LoadError) {
      try unsafe TrustedAuthorities.install(in: context, adding: caFile)
      return true
    } catch {
      problem.withLock { $0 = error.text }
      return false
    }
  }
}

extension TLSVerifier {
  /// Records an alert that the server sent.
  fileprivate func recordAlert(_ description: Int32) {
    guard certificate != nil, Self.certificateAlerts.contains(description) else { return }
    hasRefused.store(true, ordering: .relaxed)
  }

  /// The alerts that concern the receiver's certificate (RFC 8446, 6.2); `decrypt_error` if a
  /// signature on it is wrong.
  private static let certificateAlerts: Set<Int32> = [
    SSL_AD_BAD_CERTIFICATE, SSL_AD_UNSUPPORTED_CERTIFICATE, SSL_AD_CERTIFICATE_REVOKED,
    SSL_AD_CERTIFICATE_EXPIRED, SSL_AD_CERTIFICATE_UNKNOWN, SSL_AD_UNKNOWN_CA,
    SSL_AD_ACCESS_DENIED, SSL_AD_DECRYPT_ERROR, SSL_AD_CERTIFICATE_REQUIRED,
  ]

  fileprivate func recordProtocol(_ session: OpaquePointer) {
    var name: UnsafePointer<UInt8>?
    var length: UInt32 = 0
    unsafe SSL_get0_alpn_selected(session, &name, &length)
    let chosen = unsafe UnsafeBufferPointer(start: name, count: Int(length))
    unsafe hasAgreed.store(chosen.elementsEqual("h2".utf8), ordering: .relaxed)
  }
}

/// The index of the `TLSVerifier` in an `SSL_CTX`'s application data.
private let contextSlot = CRYPTO_get_ex_new_index(
  CRYPTO_EX_INDEX_SSL_CTX, 0, nil, nil, nil, nil)

private func record(session: OpaquePointer?, event: Int32, value: Int32) {
  let isAlert = event & SSL_CB_ALERT != 0 && event & SSL_CB_READ != 0
  let isDone = event & SSL_CB_HANDSHAKE_DONE != 0
  // The verifier outlives the session: the object that opens the connection retains both.
  guard isAlert || isDone, let session = unsafe session,
    let anchor = unsafe SSL_CTX_get_ex_data(SSL_get_SSL_CTX(session), contextSlot)
  else { return }
  let verifier = unsafe Unmanaged<TLSVerifier>.fromOpaque(anchor).takeUnretainedValue()
  // The lower byte of an alert is its description.
  if isAlert { verifier.recordAlert(value & 0xff) }
  if isDone { unsafe verifier.recordProtocol(session) }
}
