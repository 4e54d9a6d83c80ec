import COpenSSL
import SystemSupport
import Synchronization

/// What curl's callbacks need while a connection is opened.
final class TLSVerifier: Sendable {
  let caFile: String?
  private let cancelled = Atomic(false)
  private let problem = Mutex<String?>(nil)
  private let hasAgreed = Atomic(false)

  private let readsAhead: Bool

  /// - Parameter readsAhead: false where curl itself reads: it would not hear of what OpenSSL has
  ///   taken from the socket already.
  init(caFile: String?, readsAhead: Bool = true) {
    self.caFile = caFile
    self.readsAhead = readsAhead
  }

  var isCancelled: Bool { cancelled.load(ordering: .relaxed) }

  /// Ends the opening; it takes up to a second, curl's own pace.
  func cancel() { cancelled.store(true, ordering: .relaxed) }

  /// What `prepare` met, which curl itself reports by a number only.
  var preparationProblem: String? { problem.withLock { $0 } }

  /// The last handshake ended with HTTP/2 agreed on.
  var hasAgreedOnHTTP2: Bool { hasAgreed.load(ordering: .relaxed) }

  /// Asks for HTTP/2 and installs the certificate authorities; false if that fails.
  func prepare(_ context: OpaquePointer) -> Bool {
    // With ALPN left to curl, it would install its own HTTP/2 and refuse curl_easy_send; and where it
    // may speak its own, it would take HTTP/1.1 too.
    let protocols: [UInt8] = [2] + Array("h2".utf8)
    guard unsafe SSL_CTX_set_alpn_protos(context, protocols, UInt32(protocols.count)) == 0 else {
      problem.withLock { $0 = "OpenSSL refused the ALPN list" }
      return false
    }
    // One read for what is there, instead of two for each TLS record.
    if readsAhead { unsafe _ = ridepulse_SSL_CTX_set_read_ahead(context, 1) }
    // Curl lets go of its TLS session after CONNECT_ONLY until the first byte, so its outcome is
    // asked for here, and the way back to this object goes with OpenSSL's own.
    guard contextSlot >= 0 else { return false }
    let anchor = unsafe Unmanaged.passUnretained(self).toOpaque()
    unsafe SSL_CTX_set_ex_data(context, contextSlot, anchor)
    unsafe SSL_CTX_set_info_callback(context, noteHandshake)
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
  fileprivate func handshakeEnded(_ session: OpaquePointer) {
    var name: UnsafePointer<UInt8>?
    var length: UInt32 = 0
    unsafe SSL_get0_alpn_selected(session, &name, &length)
    let chosen = unsafe UnsafeBufferPointer(start: name, count: Int(length))
    unsafe hasAgreed.store(chosen.elementsEqual("h2".utf8), ordering: .relaxed)
  }
}

/// Where an `SSL_CTX` keeps its `TLSVerifier`.
private let contextSlot = CRYPTO_get_ex_new_index(
  CRYPTO_EX_INDEX_SSL_CTX, 0, nil, nil, nil, nil)

private func noteHandshake(session: OpaquePointer?, event: Int32, _: Int32) {
  // The context outlives the handshake: whoever opens the door holds it.
  guard event & SSL_CB_HANDSHAKE_DONE != 0, let session = unsafe session,
    let anchor = unsafe SSL_CTX_get_ex_data(SSL_get_SSL_CTX(session), contextSlot)
  else { return }
  unsafe Unmanaged<TLSVerifier>.fromOpaque(anchor).takeUnretainedValue().handshakeEnded(session)
}
