import CLibcurl

/// Why a connection could not be opened, or why it ended; the text is meant for people.
struct CurlError: Error, Hashable {
  let text: String
  var kind = ConnectivityFailure.Kind.unreachable

  /// Whether the server refused the client certificate.
  var refusesCertificate = false

  static func noHTTP2(at endpoint: APNsEndpoint) -> CurlError {
    CurlError(
      text: "\(endpoint): the server did not agree to HTTP/2 (TLS ALPN \"h2\"); it is neither "
        + "APNs nor FCM, or a proxy between breaks the TLS connection open", kind: .noHTTP2)
  }
}

/// Owns a handle of libcurl, set up for connections over TLS.
///
/// Curl handles addresses, the environment's proxies, time limits and certificates. To be used by
/// one thread at a time.
@safe
final class CurlHandle {
  let pointer: UnsafeMutableRawPointer
  private let errorText: UnsafeMutablePointer<CChar>
  private let verifier: TLSVerifier

  init(verifier: TLSVerifier) throws(CurlError) {
    guard Self.isLibraryReady, let pointer = unsafe curl_easy_init() else {
      throw CurlError(text: "libcurl does not start")
    }
    unsafe self.pointer = unsafe pointer
    unsafe errorText = .allocate(capacity: Int(CURL_ERROR_SIZE))
    unsafe errorText.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
    self.verifier = verifier
  }

  deinit {
    unsafe curl_easy_cleanup(pointer)
    unsafe errorText.deallocate()
  }

  static let isLibraryReady = curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK

  /// Sets the options that all connections share, and checks the results of `options`, with which
  /// the caller has set its own.
  ///
  /// - Parameter protocols: As curl names them.
  func configure(
    url: String, protocols: String = "https", _ options: [CURLcode]
  ) throws(CurlError) {
    let anchor = unsafe Unmanaged.passUnretained(verifier).toOpaque()
    let shared = unsafe [
      curl_easy_setopt_string(pointer, CURLOPT_URL, url),
      curl_easy_setopt_string(pointer, CURLOPT_PROTOCOLS_STR, protocols),
      curl_easy_setopt_long(pointer, CURLOPT_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2)),
      curl_easy_setopt_long(pointer, CURLOPT_NOSIGNAL, 1),
      // `TrustedAuthorities` provides them; curl would parse the system's bundle for each
      // connection.
      curl_easy_setopt_string(pointer, CURLOPT_CAINFO, nil),
      curl_easy_setopt_string(pointer, CURLOPT_CAPATH, nil),
      curl_easy_setopt_long(pointer, CURLOPT_CA_CACHE_TIMEOUT, 0),
      // Apple asks for a fresh DNS lookup before each connection.
      curl_easy_setopt_long(pointer, CURLOPT_DNS_CACHE_TIMEOUT, 0),
      // A DNS lookup that hangs must not delay the end.
      curl_easy_setopt_long(pointer, CURLOPT_QUICK_EXIT, 1),
      curl_easy_setopt_pointer(pointer, CURLOPT_ERRORBUFFER, errorText),
      curl_easy_setopt_pointer(pointer, CURLOPT_SSL_CTX_DATA, anchor),
      curl_easy_setopt_ssl_ctx_function(pointer, prepareTLS),
    ]
    guard let refused = (shared + options).first(where: { $0 != CURLE_OK }) else { return }
    throw CurlError(text: "libcurl lacks an option: \(Self.text(of: refused))")
  }

  /// The status of the latest answer; 0 without one.
  var status: Int {
    var status = 0
    unsafe _ = curl_easy_getinfo_long(pointer, CURLINFO_RESPONSE_CODE, &status)
    return status
  }

  /// Returns the details of the latest failure, or the general text of its code.
  func text(of code: CURLcode) -> String {
    let detail = unsafe String(cString: errorText)
    return detail.isEmpty ? Self.text(of: code) : detail
  }

  /// The options that make curl give up if the verifier is cancelled.
  var cancellation: [CURLcode] {
    let anchor = unsafe Unmanaged.passUnretained(verifier).toOpaque()
    return unsafe [
      curl_easy_setopt_long(pointer, CURLOPT_NOPROGRESS, 0),
      curl_easy_setopt_pointer(pointer, CURLOPT_XFERINFODATA, anchor),
      curl_easy_setopt_xferinfo_function(pointer, checkCancelled),
    ]
  }

  /// Returns why the latest call failed.
  func failure(_ code: CURLcode, at place: String) -> CurlError {
    if let problem = verifier.preparationProblem {
      return CurlError(text: problem, kind: .badAuthorities)
    }
    if verifier.isCancelled { return CurlError(text: "closed while connecting") }
    let detail = text(of: code)
    return CurlError(
      text: "\(place): \(detail)", kind: Self.kind(of: code, detail),
      refusesCertificate: verifier.isCertificateRefused)
  }

  private static func kind(of code: CURLcode, _ detail: String) -> ConnectivityFailure.Kind {
    if code == CURLE_PEER_FAILED_VERIFICATION { return .untrusted }
    // A server that supports only other protocols may end the handshake with this alert.
    return detail.contains("no application protocol") ? .noHTTP2 : .unreachable
  }

  private static func text(of code: CURLcode) -> String {
    unsafe String(cString: curl_easy_strerror(code))
  }
}

extension Duration {
  /// The duration as curl's time limit, where 0 would mean none.
  var curlMilliseconds: Int { Int(max(1, nanoseconds / 1_000_000)) }
}

private func prepareTLS(
  _: UnsafeMutableRawPointer?, tls: UnsafeMutableRawPointer?, anchor: UnsafeMutableRawPointer?
) -> CURLcode {
  guard let tls = unsafe tls, let anchor = unsafe anchor else { return CURLE_SSL_CONNECT_ERROR }
  let verifier = unsafe Unmanaged<TLSVerifier>.fromOpaque(anchor).takeUnretainedValue()
  return unsafe verifier.prepare(OpaquePointer(tls)) ? CURLE_OK : CURLE_SSL_CACERT_BADFILE
}

private func checkCancelled(
  anchor: UnsafeMutableRawPointer?, _: curl_off_t, _: curl_off_t, _: curl_off_t, _: curl_off_t
) -> CInt {
  guard let anchor = unsafe anchor else { return 0 }
  return unsafe Unmanaged<TLSVerifier>.fromOpaque(anchor).takeUnretainedValue().isCancelled ? 1 : 0
}
