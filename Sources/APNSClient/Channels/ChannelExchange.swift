import CLibcurl
import RideCore

/// A request to the channel management API.
struct ChannelRequest {
  var method: String
  var path: String
  var requestID: String
  var channel: ChannelID?
  var body: String?

  /// True if sending the request twice does no harm.
  var isRepeatable = true
}

/// The parts of an answer that its callers read.
struct ChannelAnswer {
  var status = 0
  var headers: [String: String] = [:]
  var body: [UInt8] = []
}

/// Performs requests over curl's own HTTP/2, one at a time, on one connection as long as it lasts.
///
/// Channel calls are rare: they need none of the pools' machinery, and a different HTTP/2
/// implementation costs nothing here. To be used by one thread at a time.
@safe
final class ChannelExchange {
  private let handle: UnsafeMutableRawPointer
  private let errorText: UnsafeMutablePointer<CChar>
  private let endpoint: APNsEndpoint
  private let context: ExchangeContext

  init(to endpoint: APNsEndpoint, caFile: String?) throws(ChannelError) {
    guard Self.isLibraryReady, let handle = unsafe curl_easy_init() else {
      throw .unreachable("libcurl does not start")
    }
    unsafe self.handle = unsafe handle
    unsafe errorText = .allocate(capacity: Int(CURL_ERROR_SIZE))
    unsafe errorText.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
    self.endpoint = endpoint
    context = ExchangeContext(curl: TLSVerifier(caFile: caFile, readsAhead: false))
  }

  deinit {
    unsafe curl_easy_cleanup(handle)
    unsafe errorText.deallocate()
  }

  private static let isLibraryReady = curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK

  /// Sends a request and waits for its answer; blocks up to the time limit.
  func perform(
    _ request: ChannelRequest, authorization: String, timeout: Duration
  ) throws(ChannelError) -> ChannelAnswer {
    context.begin(request)
    let headers = unsafe Self.headers(request, authorization: authorization)
    defer { unsafe curl_slist_free_all(headers) }
    try unsafe configure(request, headers: headers, timeout: timeout)
    let code = unsafe curl_easy_perform(handle)
    var answer = context.answer
    var status = 0
    _ = unsafe curl_easy_getinfo_long(handle, CURLINFO_RESPONSE_CODE, &status)
    answer.status = status
    guard code == CURLE_OK else { throw failure(code) }
    return answer
  }

  private static func headers(
    _ request: ChannelRequest, authorization: String
  ) -> UnsafeMutablePointer<curl_slist>? {
    var lines = ["authorization: \(authorization)", "apns-request-id: \(request.requestID)"]
    if let channel = request.channel { lines.append("apns-channel-id: \(channel)") }
    if request.body != nil { lines.append("content-type: application/json") }
    // Removes curl's own header, which Apple does not ask for.
    lines.append("accept:")
    var list: UnsafeMutablePointer<curl_slist>?
    for line in lines { unsafe list = unsafe curl_slist_append(list, line) }
    return unsafe list
  }

  private func configure(
    _ request: ChannelRequest, headers: UnsafeMutablePointer<curl_slist>?, timeout: Duration
  ) throws(ChannelError) {
    let milliseconds = Int(max(1, timeout.nanoseconds / 1_000_000))
    // The reset keeps open connections; every option must be set again.
    unsafe curl_easy_reset(handle)
    let method =
      unsafe request.method == "POST"
      ? [
        curl_easy_setopt_long(handle, CURLOPT_POSTFIELDSIZE, request.body?.utf8.count ?? 0),
        curl_easy_setopt_string(handle, CURLOPT_COPYPOSTFIELDS, request.body ?? ""),
      ] : [curl_easy_setopt_string(handle, CURLOPT_CUSTOMREQUEST, request.method)]
    let url = endpoint.description + request.path
    let codes = unsafe [
      curl_easy_setopt_string(handle, CURLOPT_URL, url),
      curl_easy_setopt_string(handle, CURLOPT_PROTOCOLS_STR, "https"),
      curl_easy_setopt_long(handle, CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_2TLS)),
      curl_easy_setopt_pointer(handle, CURLOPT_HTTPHEADER, headers),
      curl_easy_setopt_long(handle, CURLOPT_TIMEOUT_MS, milliseconds),
      curl_easy_setopt_long(handle, CURLOPT_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2)),
      curl_easy_setopt_long(handle, CURLOPT_NOSIGNAL, 1),
      curl_easy_setopt_long(handle, CURLOPT_DNS_CACHE_TIMEOUT, 0),
      // A DNS lookup that hangs must not delay the end.
      curl_easy_setopt_long(handle, CURLOPT_QUICK_EXIT, 1),
      curl_easy_setopt_long(handle, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1),
      // Curl repeats a request by itself if the reused connection has gone stale.
      curl_easy_setopt_long(handle, CURLOPT_FRESH_CONNECT, request.isRepeatable ? 0 : 1),
    ]
    guard let refused = (method + codes + callbacks()).first(where: { $0 != CURLE_OK }) else {
      return
    }
    throw .unreachable("libcurl lacks an option: \(Self.text(of: refused))")
  }

  private func callbacks() -> [CURLcode] {
    let anchor = unsafe Unmanaged.passUnretained(context).toOpaque()
    let curl = unsafe Unmanaged.passUnretained(context.curl).toOpaque()
    return unsafe [
      curl_easy_setopt_pointer(handle, CURLOPT_ERRORBUFFER, errorText),
      curl_easy_setopt_pointer(handle, CURLOPT_SSL_CTX_DATA, curl),
      curl_easy_setopt_string(handle, CURLOPT_CAINFO, nil),
      curl_easy_setopt_string(handle, CURLOPT_CAPATH, nil),
      curl_easy_setopt_long(handle, CURLOPT_CA_CACHE_TIMEOUT, 0),
      curl_easy_setopt_ssl_ctx_function(handle, prepareDoorTLS),
      curl_easy_setopt_pointer(handle, CURLOPT_PREREQDATA, anchor),
      curl_easy_setopt_prereq_function(handle, mayBeSent),
      curl_easy_setopt_pointer(handle, CURLOPT_HEADERDATA, anchor),
      curl_easy_setopt_write_function(handle, CURLOPT_HEADERFUNCTION, takeHeader),
      curl_easy_setopt_pointer(handle, CURLOPT_WRITEDATA, anchor),
      curl_easy_setopt_write_function(handle, CURLOPT_WRITEFUNCTION, takeBody),
    ]
  }

  private func failure(_ code: CURLcode) -> ChannelError {
    if let problem = context.curl.preparationProblem { return .unreachable(problem) }
    if context.lacksHTTP2 {
      return .unreachable(
        "\(endpoint): the server did not agree to HTTP/2 (TLS ALPN \"h2\"); it is no APNs, or a "
          + "proxy between breaks the TLS connection open")
    }
    let detail = unsafe String(cString: errorText)
    let text = "\(endpoint): \(detail.isEmpty ? Self.text(of: code) : detail)"
    return context.timesSent == 0 ? .unreachable(text) : .unanswered(text)
  }

  private static func text(of code: CURLcode) -> String {
    unsafe String(cString: curl_easy_strerror(code))
  }
}
