import CLibcurl

/// A connection opened by curl, with TLS established and HTTP/2 negotiated; bytes pass through
/// curl.
///
/// To be used by one thread at a time.
@safe
final class CurlConnection {
  enum Transfer: Hashable {
    case bytes(Int)
    case wouldBlock
    case ended
  }

  private let curl: CurlHandle
  private let verifier: TLSVerifier

  /// The connection's socket, for `poll`.
  private(set) var socket: curl_socket_t = -1

  /// Opens a connection; blocks up to the time limit.
  init(to endpoint: APNsEndpoint, timeout: Duration, verifier: TLSVerifier) throws(CurlError) {
    curl = try CurlHandle(verifier: verifier)
    self.verifier = verifier
    try configure(url: endpoint.description, timeout: timeout)
    let code = unsafe curl_easy_perform(curl.pointer)
    guard code == CURLE_OK else { throw failure(code, endpoint) }
    guard unsafe curl_easy_getinfo_socket(curl.pointer, &socket) == CURLE_OK, socket >= 0 else {
      throw CurlError(text: "\(endpoint): curl gives no socket")
    }
    guard verifier.hasAgreedOnHTTP2 else { throw CurlError.noHTTP2(at: endpoint) }
  }

  private func configure(url: String, timeout: Duration) throws(CurlError) {
    let anchor = unsafe Unmanaged.passUnretained(verifier).toOpaque()
    try curl.configure(
      url: url,
      unsafe [
        curl_easy_setopt_long(curl.pointer, CURLOPT_CONNECT_ONLY, 1),
        curl_easy_setopt_long(curl.pointer, CURLOPT_CONNECTTIMEOUT_MS, timeout.curlMilliseconds),
        curl_easy_setopt_long(curl.pointer, CURLOPT_SSL_ENABLE_ALPN, 0),
        curl_easy_setopt_long(curl.pointer, CURLOPT_TCP_NODELAY, 1),
        curl_easy_setopt_long(curl.pointer, CURLOPT_NOPROGRESS, 0),
        curl_easy_setopt_pointer(curl.pointer, CURLOPT_XFERINFODATA, anchor),
        curl_easy_setopt_xferinfo_function(curl.pointer, checkCancelled),
      ])
  }

  private func failure(_ code: CURLcode, _ endpoint: APNsEndpoint) -> CurlError {
    if let problem = verifier.preparationProblem {
      return CurlError(text: problem, kind: .badAuthorities)
    }
    if verifier.isCancelled { return CurlError(text: "closed while connecting") }
    let detail = curl.text(of: code)
    return CurlError(
      text: "\(endpoint): \(detail)", kind: Self.kind(of: code, detail),
      refusesCertificate: verifier.isCertificateRefused)
  }

  private static func kind(of code: CURLcode, _ detail: String) -> ConnectivityFailure.Kind {
    if code == CURLE_PEER_FAILED_VERIFICATION { return .untrusted }
    // A server that supports only other protocols may end the handshake with this alert.
    return detail.contains("no application protocol") ? .noHTTP2 : .unreachable
  }

  // MARK: Bytes

  func send(_ bytes: UnsafeRawBufferPointer) throws(CurlError) -> Transfer {
    var count = 0
    let code = unsafe curl_easy_send(curl.pointer, bytes.baseAddress, bytes.count, &count)
    return try transfer(code, count, endsAtZero: false)
  }

  func receive(into room: UnsafeMutableRawBufferPointer) throws(CurlError) -> Transfer {
    var count = 0
    let code = unsafe curl_easy_recv(curl.pointer, room.baseAddress, room.count, &count)
    return try transfer(code, count, endsAtZero: true)
  }

  private func transfer(_ code: CURLcode, _ count: Int, endsAtZero: Bool)
    throws(CurlError) -> Transfer
  {
    switch code {
    case CURLE_OK: return count == 0 && endsAtZero ? .ended : .bytes(count)
    case CURLE_AGAIN: return .wouldBlock
    default:
      // With TLS 1.3 the handshake ends here before the server has examined the certificate.
      throw CurlError(
        text: curl.text(of: code), refusesCertificate: verifier.isCertificateRefused)
    }
  }
}

private func checkCancelled(
  anchor: UnsafeMutableRawPointer?, _: curl_off_t, _: curl_off_t, _: curl_off_t, _: curl_off_t
) -> CInt {
  guard let anchor = unsafe anchor else { return 0 }
  return unsafe Unmanaged<TLSVerifier>.fromOpaque(anchor).takeUnretainedValue().isCancelled ? 1 : 0
}
