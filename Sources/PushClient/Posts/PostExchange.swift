import Base
import CLibcurl
import RideCore

/// Sends posts to one receiver, one at a time, over a connection that it keeps.
///
/// It blocks; to be used by one thread.
@safe
final class PostExchange {
  private let pointer: UnsafeMutableRawPointer

  init?() {
    guard CurlHandle.isLibraryReady, let pointer = unsafe curl_easy_init() else { return nil }
    unsafe self.pointer = unsafe pointer
  }

  deinit { unsafe curl_easy_cleanup(pointer) }

  /// The largest answer that is read; what is in it does not matter.
  private static let answerLimit = 65_536

  /// Sends one post and returns its outcome, within the time limit.
  func send(
    _ request: PushRequest, to receiver: PostReceiver, at time: Timestamp, within limit: Duration
  ) -> PushOutcome {
    var headers: UnsafeMutablePointer<curl_slist>?
    defer { unsafe curl_slist_free_all(headers) }
    let signed = receiver.signer.headers(id: request.headers.id, at: time, body: request.payload)
    // Without `Expect` curl would wait for an answer before a long body.
    for (name, value) in [("content-type", "application/json"), ("expect", "")] + signed {
      let line = value.isEmpty ? "\(name):" : "\(name): \(value)"
      guard let longer = unsafe curl_slist_append(headers, line) else {
        return .unsent(.noConnection("libcurl has no memory left"))
      }
      unsafe headers = longer
    }
    var left = Self.answerLimit
    let code = unsafe withUnsafeMutablePointer(to: &left) { left in
      unsafe request.payload.withUnsafeBytes { body in
        unsafe perform(receiver, headers, body, left, limit)
      }
    }
    return outcome(code)
  }

  private func perform(
    _ receiver: PostReceiver, _ headers: UnsafeMutablePointer<curl_slist>?,
    _ body: UnsafeRawBufferPointer, _ left: UnsafeMutablePointer<Int>, _ limit: Duration
  ) -> CURLcode {
    // Through a proxy of the environment, what is not encrypted would leave this machine.
    let noProxy: String? = receiver.isEncrypted ? nil : "*"
    let options = unsafe [
      curl_easy_setopt_string(pointer, CURLOPT_URL, receiver.url),
      curl_easy_setopt_string(pointer, CURLOPT_NOPROXY, noProxy),
      curl_easy_setopt_string(pointer, CURLOPT_PROTOCOLS_STR, "http,https"),
      curl_easy_setopt_long(pointer, CURLOPT_NOSIGNAL, 1),
      curl_easy_setopt_long(pointer, CURLOPT_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2)),
      curl_easy_setopt_long(pointer, CURLOPT_FOLLOWLOCATION, 0),
      curl_easy_setopt_long(pointer, CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_1_1)),
      curl_easy_setopt_long(
        pointer, CURLOPT_CONNECTTIMEOUT_MS, min(limit, .seconds(5)).curlMilliseconds),
      curl_easy_setopt_long(pointer, CURLOPT_TIMEOUT_MS, limit.curlMilliseconds),
      curl_easy_setopt_long(pointer, CURLOPT_QUICK_EXIT, 1),
      curl_easy_setopt_string(pointer, CURLOPT_USERAGENT, "RidePulse"),
      curl_easy_setopt_long(pointer, CURLOPT_POST, 1),
      curl_easy_setopt_long(pointer, CURLOPT_POSTFIELDSIZE, body.count),
      curl_easy_setopt_pointer(
        pointer, CURLOPT_POSTFIELDS, UnsafeMutableRawPointer(mutating: body.baseAddress)),
      curl_easy_setopt_pointer(pointer, CURLOPT_HTTPHEADER, headers),
      curl_easy_setopt_pointer(pointer, CURLOPT_WRITEDATA, left),
      curl_easy_setopt_write_function(pointer, CURLOPT_WRITEFUNCTION, readAnswer),
    ]
    if let refused = options.first(where: { $0 != CURLE_OK }) { return refused }
    return unsafe curl_easy_perform(pointer)
  }

  private func outcome(_ code: CURLcode) -> PushOutcome {
    // A body that is too long, slow or cut off changes nothing about the status.
    let status = number(CURLINFO_RESPONSE_CODE)
    let withStatus = [
      CURLE_OK, CURLE_WRITE_ERROR, CURLE_PARTIAL_FILE, CURLE_RECV_ERROR, CURLE_OPERATION_TIMEDOUT,
    ]
    if status >= 200, withStatus.contains(code) {
      let wait = number(CURLINFO_RETRY_AFTER)
      return PushOutcome(
        postStatus: status, retryAfter: wait > 0 ? .seconds(min(wait, 86_400)) : nil)
    }
    let text = unsafe String(cString: curl_easy_strerror(code))
    if number(CURLINFO_REQUEST_SIZE) == 0 { return .unsent(.noConnection(text)) }
    return .unanswered(code == CURLE_OPERATION_TIMEDOUT ? .timeout : .connectionLost(text))
  }

  private func number(_ info: CURLINFO) -> Int {
    var value = 0
    return unsafe curl_easy_getinfo_long(pointer, info, &value) == CURLE_OK ? value : 0
  }
}

/// Drops a piece of the answer's body; ends the transfer once there is too much of it.
private func readAnswer(
  _: UnsafeMutablePointer<CChar>?, _: Int, count: Int, left: UnsafeMutableRawPointer?
) -> Int {
  guard let left = unsafe left?.assumingMemoryBound(to: Int.self) else { return 0 }
  unsafe left.pointee -= count
  return unsafe left.pointee >= 0 ? count : 0
}
