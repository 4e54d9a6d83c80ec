import COpenSSL
import Synchronization

/// What curl's callbacks need while a connection is opened.
final class DoorContext: Sendable {
  let caFile: String?
  private let cancelled = Atomic(false)
  private let trouble = Mutex<String?>(nil)

  init(caFile: String?) {
    self.caFile = caFile
  }

  var isCancelled: Bool { cancelled.load(ordering: .relaxed) }

  /// Ends the opening; it takes up to a second, curl's own pace.
  func cancel() { cancelled.store(true, ordering: .relaxed) }

  /// What `prepare` met, which curl itself reports by a number only.
  var preparationTrouble: String? { trouble.withLock { $0 } }

  /// Asks for HTTP/2 and adds our authorities; false where that fails.
  func prepare(_ context: OpaquePointer) -> Bool {
    // With ALPN left to curl, it would install its own HTTP/2 and refuse curl_easy_send.
    let protocols: [UInt8] = [2] + Array("h2".utf8)
    guard unsafe SSL_CTX_set_alpn_protos(context, protocols, UInt32(protocols.count)) == 0 else {
      trouble.withLock { $0 = "OpenSSL refused the ALPN list" }
      return false
    }
    // One read for what is there, instead of two for each TLS record.
    unsafe SSL_CTX_set_read_ahead_on(context)
    guard let caFile else { return true }
    guard unsafe SSL_CTX_load_verify_locations(context, caFile, nil) == 1 else {
      let reason = openSSLErrorText()
      trouble.withLock { $0 = "can't load certificate authorities from \(caFile): \(reason)" }
      return false
    }
    return true
  }
}
