import CLibcurl

/// A connection opened by curl, with TLS established and HTTP/2 negotiated; bytes pass through
/// curl.
///
/// Curl handles addresses, the environment's proxies, time limits and certificates. To be used by
/// one thread at a time.
@safe
final class CurlConnection {
  enum Transfer: Hashable {
    case bytes(Int)
    case wouldBlock
    case ended
  }

  private let handle: UnsafeMutableRawPointer
  private let errorText: UnsafeMutablePointer<CChar>
  private let context: TLSVerifier

  /// The connection's socket, for `poll`.
  private(set) var socket: curl_socket_t = -1

  /// Opens a connection; blocks up to the time limit.
  init(to endpoint: APNsEndpoint, timeout: Duration, context: TLSVerifier) throws(CurlError) {
    guard Self.isLibraryReady, let handle = unsafe curl_easy_init() else {
      throw CurlError(text: "libcurl does not start")
    }
    unsafe self.handle = unsafe handle
    unsafe errorText = .allocate(capacity: Int(CURL_ERROR_SIZE))
    unsafe errorText.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
    self.context = context
    try configure(url: endpoint.description, timeout: timeout)
    let code = unsafe curl_easy_perform(handle)
    guard code == CURLE_OK else { throw failure(code, endpoint) }
    guard unsafe curl_easy_getinfo_socket(handle, &socket) == CURLE_OK, socket >= 0 else {
      throw CurlError(text: "\(endpoint): curl gives no socket")
    }
    guard context.hasAgreedOnHTTP2 else {
      throw CurlError(
        text: "\(endpoint): the server did not agree to HTTP/2 (TLS ALPN \"h2\"); it is no APNs, "
          + "or a proxy between breaks the TLS connection open", kind: .noHTTP2)
    }
  }

  deinit {
    unsafe curl_easy_cleanup(handle)
    unsafe errorText.deallocate()
  }

  private static let isLibraryReady = curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK

  private func configure(url: String, timeout: Duration) throws(CurlError) {
    let milliseconds = Int(max(1, timeout.nanoseconds / 1_000_000))
    let anchor = unsafe Unmanaged.passUnretained(context).toOpaque()
    let codes = unsafe [
      curl_easy_setopt_string(handle, CURLOPT_URL, url),
      curl_easy_setopt_string(handle, CURLOPT_PROTOCOLS_STR, "https"),
      curl_easy_setopt_long(handle, CURLOPT_CONNECT_ONLY, 1),
      curl_easy_setopt_long(handle, CURLOPT_CONNECTTIMEOUT_MS, milliseconds),
      curl_easy_setopt_long(handle, CURLOPT_SSL_ENABLE_ALPN, 0),
      curl_easy_setopt_long(handle, CURLOPT_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2)),
      curl_easy_setopt_long(handle, CURLOPT_NOSIGNAL, 1),
      // `TrustedAuthorities` provides them; curl would parse the system's bundle for each
      // connection.
      curl_easy_setopt_string(handle, CURLOPT_CAINFO, nil),
      curl_easy_setopt_string(handle, CURLOPT_CAPATH, nil),
      curl_easy_setopt_long(handle, CURLOPT_CA_CACHE_TIMEOUT, 0),
      // Apple asks for a fresh DNS lookup before each connection.
      curl_easy_setopt_long(handle, CURLOPT_DNS_CACHE_TIMEOUT, 0),
      curl_easy_setopt_long(handle, CURLOPT_TCP_NODELAY, 1),
      // A DNS lookup that hangs must not delay the close.
      curl_easy_setopt_long(handle, CURLOPT_QUICK_EXIT, 1),
      curl_easy_setopt_pointer(handle, CURLOPT_ERRORBUFFER, errorText),
      curl_easy_setopt_pointer(handle, CURLOPT_SSL_CTX_DATA, anchor),
      curl_easy_setopt_ssl_ctx_function(handle, prepareTLS),
      curl_easy_setopt_long(handle, CURLOPT_NOPROGRESS, 0),
      curl_easy_setopt_pointer(handle, CURLOPT_XFERINFODATA, anchor),
      curl_easy_setopt_xferinfo_function(handle, checkCancelled),
    ]
    guard let refused = codes.first(where: { $0 != CURLE_OK }) else { return }
    throw CurlError(text: "libcurl lacks an option: \(Self.text(of: refused))")
  }

  private func failure(_ code: CURLcode, _ endpoint: APNsEndpoint) -> CurlError {
    if let problem = context.preparationProblem {
      return CurlError(text: problem, kind: .badAuthorities)
    }
    if context.isCancelled { return CurlError(text: "closed while connecting") }
    let detail = unsafe String(cString: errorText)
    return CurlError(
      text: "\(endpoint): \(detail.isEmpty ? Self.text(of: code) : detail)",
      kind: Self.kind(of: code, detail))
  }

  private static func kind(of code: CURLcode, _ detail: String) -> ConnectivityFailure.Kind {
    if code == CURLE_PEER_FAILED_VERIFICATION { return .untrusted }
    // A server that supports only other protocols may end the handshake with this alert.
    return detail.contains("no application protocol") ? .noHTTP2 : .unreachable
  }

  // MARK: Bytes

  func send(_ bytes: UnsafeRawBufferPointer) throws(CurlError) -> Transfer {
    var count = 0
    let code = unsafe curl_easy_send(handle, bytes.baseAddress, bytes.count, &count)
    return try transfer(code, count, endsAtZero: false)
  }

  func receive(into room: UnsafeMutableRawBufferPointer) throws(CurlError) -> Transfer {
    var count = 0
    let code = unsafe curl_easy_recv(handle, room.baseAddress, room.count, &count)
    return try transfer(code, count, endsAtZero: true)
  }

  private func transfer(_ code: CURLcode, _ count: Int, endsAtZero: Bool)
    throws(CurlError) -> Transfer
  {
    switch code {
    case CURLE_OK: return count == 0 && endsAtZero ? .ended : .bytes(count)
    case CURLE_AGAIN: return .wouldBlock
    default:
      let detail = unsafe String(cString: errorText)
      throw CurlError(text: detail.isEmpty ? Self.text(of: code) : detail)
    }
  }

  private static func text(of code: CURLcode) -> String {
    unsafe String(cString: curl_easy_strerror(code))
  }
}

private func prepareTLS(
  _: UnsafeMutableRawPointer?, tls: UnsafeMutableRawPointer?, anchor: UnsafeMutableRawPointer?
) -> CURLcode {
  guard let tls = unsafe tls, let anchor = unsafe anchor else { return CURLE_SSL_CONNECT_ERROR }
  let context = unsafe Unmanaged<TLSVerifier>.fromOpaque(anchor).takeUnretainedValue()
  return unsafe context.prepare(OpaquePointer(tls)) ? CURLE_OK : CURLE_SSL_CACERT_BADFILE
}

private func checkCancelled(
  anchor: UnsafeMutableRawPointer?, _: curl_off_t, _: curl_off_t, _: curl_off_t, _: curl_off_t
) -> CInt {
  guard let anchor = unsafe anchor else { return 0 }
  return unsafe Unmanaged<TLSVerifier>.fromOpaque(anchor).takeUnretainedValue().isCancelled ? 1 : 0
}
