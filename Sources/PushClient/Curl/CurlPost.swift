import CLibcurl

/// One POST over a connection of its own; for requests that are too rare for a pool.
struct CurlPost {
  struct Answer {
    let status: Int
    /// By names in lower case.
    let headers: [String: String]
    let body: [UInt8]
  }

  var url: String
  /// Lines such as `content-type: text/plain`.
  var headers: [String]
  var body: [UInt8]
  /// The limit for DNS, TCP, proxy and TLS together.
  var connectLimit: Duration = .seconds(5)
  /// The limit for all of it.
  var limit: Duration = .seconds(10)
  /// A longer answer is an error.
  var answerLimit = 16 * 1024
  /// Whether the URL may be one of http; only for what names no person and holds no secret.
  var allowsPlain = false

  /// Sends the request and waits for its answer; blocks up to the time limit.
  ///
  /// - Parameters:
  ///   - verifier: Cancels it from any other thread. It must not read ahead.
  ///   - usesHTTP2: As the verifier offers it; otherwise HTTP/1.1.
  func send(_ verifier: TLSVerifier, usesHTTP2: Bool) throws(CurlError) -> Answer {
    let curl = try CurlHandle(verifier: verifier)
    let answer = CurlAnswer(bodyLimit: answerLimit)
    // Without `expect` curl would wait for an answer before a long body.
    let lines = unsafe curl_slist.list(of: headers + ["accept:", "expect:"])
    defer { unsafe curl_slist_free_all(lines) }
    let version = usesHTTP2 ? CURL_HTTP_VERSION_2TLS : CURL_HTTP_VERSION_1_1
    let pointer = unsafe curl.pointer
    let options = unsafe [
      curl_easy_setopt_long(pointer, CURLOPT_HTTP_VERSION, Int(version)),
      curl_easy_setopt_long(pointer, CURLOPT_FOLLOWLOCATION, 0),
      curl_easy_setopt_long(pointer, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1),
      curl_easy_setopt_pointer(pointer, CURLOPT_HTTPHEADER, lines),
      curl_easy_setopt_long(pointer, CURLOPT_CONNECTTIMEOUT_MS, connectLimit.curlMilliseconds),
      curl_easy_setopt_long(pointer, CURLOPT_TIMEOUT_MS, limit.curlMilliseconds),
      curl_easy_setopt_long(pointer, CURLOPT_POST, 1),
      curl_easy_setopt_long(pointer, CURLOPT_POSTFIELDSIZE, body.count),
    ]
    try curl.configure(
      url: url, protocols: allowsPlain ? "http,https" : "https",
      options + curl.cancellation + answer.options(of: curl))
    // The answer and the verifier are anchored in curl without a reference.
    let code = withExtendedLifetime((answer, verifier)) {
      unsafe body.withUnsafeBytes { bytes in
        let start = unsafe UnsafeMutableRawPointer(mutating: bytes.baseAddress)
        unsafe _ = curl_easy_setopt_pointer(pointer, CURLOPT_POSTFIELDS, start)
        return unsafe curl_easy_perform(pointer)
      }
    }
    if answer.isTooLong {
      throw CurlError(text: "\(url): the answer has more than \(answerLimit) bytes")
    }
    guard code == CURLE_OK else { throw curl.failure(code, at: url) }
    return Answer(status: curl.status, headers: answer.headers, body: answer.body)
  }
}

extension curl_slist {
  /// Returns a list of header lines, which the caller frees; it ends where memory ends.
  static func list(of lines: [String]) -> UnsafeMutablePointer<curl_slist>? {
    var list: UnsafeMutablePointer<curl_slist>?
    for line in lines {
      guard let longer = unsafe curl_slist_append(list, line) else { break }
      unsafe list = longer
    }
    return unsafe list
  }
}
