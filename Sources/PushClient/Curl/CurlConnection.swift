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
    guard code == CURLE_OK else { throw curl.failure(code, at: endpoint.description) }
    guard unsafe curl_easy_getinfo_socket(curl.pointer, &socket) == CURLE_OK, socket >= 0 else {
      throw CurlError(text: "\(endpoint): curl gives no socket")
    }
    guard verifier.hasAgreedOnHTTP2 else { throw CurlError.noHTTP2(at: endpoint) }
  }

  private func configure(url: String, timeout: Duration) throws(CurlError) {
    try curl.configure(
      url: url,
      unsafe curl.cancellation + [
        curl_easy_setopt_long(curl.pointer, CURLOPT_CONNECT_ONLY, 1),
        curl_easy_setopt_long(curl.pointer, CURLOPT_CONNECTTIMEOUT_MS, timeout.curlMilliseconds),
        curl_easy_setopt_long(curl.pointer, CURLOPT_SSL_ENABLE_ALPN, 0),
        curl_easy_setopt_long(curl.pointer, CURLOPT_TCP_NODELAY, 1),
      ])
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
