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

/// A connection to the channel management API, over curl's own HTTP/2, as long as it lasts.
///
/// Channel calls are rare: they need none of the pools' machinery, and a different HTTP/2
/// implementation costs nothing here. To be used by one thread at a time.
@safe
final class ChannelConnection {
  private let curl: CurlHandle
  private let endpoint: APNsEndpoint
  private let transaction: ChannelTransaction

  init(
    to endpoint: APNsEndpoint, caFile: String?, certificate: ClientCertificate?
  ) throws(ChannelError) {
    let verifier = TLSVerifier(caFile: caFile, certificate: certificate, readsAhead: false)
    do throws(CurlError) {
      curl = try CurlHandle(verifier: verifier)
    } catch {
      throw .unreachable(error.text)
    }
    self.endpoint = endpoint
    transaction = ChannelTransaction(verifier: verifier)
  }

  /// Sends a request and waits for its answer; blocks up to the time limit.
  ///
  /// - Parameter authorization: Nil if a client certificate identifies the sender.
  func perform(
    _ request: ChannelRequest, authorization: String?, timeout: Duration
  ) throws(ChannelError) -> ChannelAnswer {
    transaction.begin(request)
    let headers = unsafe Self.headers(request, authorization: authorization)
    defer { unsafe curl_slist_free_all(headers) }
    try unsafe configure(request, headers: headers, timeout: timeout)
    let code = unsafe curl_easy_perform(curl.pointer)
    guard code == CURLE_OK else { throw failure(code) }
    let answer = transaction.answer
    return ChannelAnswer(status: curl.status, headers: answer.headers, body: answer.body)
  }

  private static func headers(
    _ request: ChannelRequest, authorization: String?
  ) -> UnsafeMutablePointer<curl_slist>? {
    var lines = ["apns-request-id: \(request.requestID)"]
    if let authorization { lines.append("authorization: \(authorization)") }
    if let channel = request.channel { lines.append("apns-channel-id: \(channel)") }
    if request.body != nil { lines.append("content-type: application/json") }
    // Removes curl's own header, which Apple does not ask for.
    lines.append("accept:")
    return unsafe curl_slist.list(of: lines)
  }

  private func configure(
    _ request: ChannelRequest, headers: UnsafeMutablePointer<curl_slist>?, timeout: Duration
  ) throws(ChannelError) {
    // The reset keeps open connections; every option must be set again.
    unsafe curl_easy_reset(curl.pointer)
    let method =
      unsafe request.method == "POST"
      ? [
        curl_easy_setopt_long(curl.pointer, CURLOPT_POSTFIELDSIZE, request.body?.utf8.count ?? 0),
        curl_easy_setopt_string(curl.pointer, CURLOPT_COPYPOSTFIELDS, request.body ?? ""),
      ] : [curl_easy_setopt_string(curl.pointer, CURLOPT_CUSTOMREQUEST, request.method)]
    let options = unsafe [
      curl_easy_setopt_long(curl.pointer, CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_2TLS)),
      curl_easy_setopt_pointer(curl.pointer, CURLOPT_HTTPHEADER, headers),
      curl_easy_setopt_long(curl.pointer, CURLOPT_TIMEOUT_MS, timeout.curlMilliseconds),
      curl_easy_setopt_long(curl.pointer, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1),
      // Curl repeats a request by itself if the reused connection has gone stale.
      curl_easy_setopt_long(curl.pointer, CURLOPT_FRESH_CONNECT, request.isRepeatable ? 0 : 1),
    ]
    do throws(CurlError) {
      try curl.configure(
        url: endpoint.description + request.path, method + options + callbacks())
    } catch {
      throw .unreachable(error.text)
    }
  }

  private func callbacks() -> [CURLcode] {
    let anchor = unsafe Unmanaged.passUnretained(transaction).toOpaque()
    return unsafe [
      curl_easy_setopt_pointer(curl.pointer, CURLOPT_PREREQDATA, anchor),
      curl_easy_setopt_prereq_function(curl.pointer, mayBeSent),
    ] + transaction.answer.options(of: curl)
  }

  private func failure(_ code: CURLcode) -> ChannelError {
    if let problem = transaction.verifier.preparationProblem { return .unreachable(problem) }
    if transaction.lacksHTTP2 { return .unreachable(CurlError.noHTTP2(at: endpoint).text) }
    let text = "\(endpoint): \(curl.text(of: code))"
    return transaction.timesSent == 0 ? .unreachable(text) : .unanswered(text)
  }
}

/// The state that curl's callbacks use and fill during one request.
private final class ChannelTransaction {
  /// The limit in bytes; a list of 10,000 IDs takes about 300 KB.
  private static let bodyLimit = 4 << 20

  let verifier: TLSVerifier
  let answer = CurlAnswer(bodyLimit: bodyLimit)
  private(set) var timesSent = 0
  private(set) var lacksHTTP2 = false
  private var isRepeatable = true

  init(verifier: TLSVerifier) {
    self.verifier = verifier
  }

  func begin(_ request: ChannelRequest) {
    answer.clear()
    timesSent = 0
    lacksHTTP2 = false
    isRepeatable = request.isRepeatable
  }

  /// Called when a connection is open; returns false if the request must not be sent on it.
  func mayBeSent() -> Bool {
    guard verifier.hasAgreedOnHTTP2 else {
      lacksHTTP2 = true
      return false
    }
    // Curl is about to repeat the request by itself.
    if timesSent > 0, !isRepeatable { return false }
    timesSent += 1
    return true
  }
}

private func mayBeSent(
  anchor: UnsafeMutableRawPointer?, _: UnsafeMutablePointer<CChar>?,
  _: UnsafeMutablePointer<CChar>?, _: CInt, _: CInt
) -> CInt {
  guard let anchor = unsafe anchor else { return CURL_PREREQFUNC_ABORT }
  let transaction = unsafe Unmanaged<ChannelTransaction>.fromOpaque(anchor).takeUnretainedValue()
  return transaction.mayBeSent() ? CURL_PREREQFUNC_OK : CURL_PREREQFUNC_ABORT
}
