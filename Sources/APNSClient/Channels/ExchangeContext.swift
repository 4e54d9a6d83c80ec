import CLibcurl

/// The state that curl's callbacks use and fill during one request.
final class ExchangeContext {
  /// The limit in bytes; a list of 10,000 IDs takes about 300 KB.
  private static let bodyLimit = 4 << 20

  let curl: TLSVerifier
  private(set) var answer = ChannelAnswer()
  private(set) var timesSent = 0
  private(set) var lacksHTTP2 = false
  private var isRepeatable = true

  init(curl: TLSVerifier) {
    self.curl = curl
  }

  func begin(_ request: ChannelRequest) {
    answer = ChannelAnswer()
    timesSent = 0
    lacksHTTP2 = false
    isRepeatable = request.isRepeatable
  }

  /// Called when a connection is open; returns false if the request must not be sent on it.
  func mayBeSent() -> Bool {
    guard curl.hasAgreedOnHTTP2 else {
      lacksHTTP2 = true
      return false
    }
    // Curl is about to repeat the request by itself.
    if timesSent > 0, !isRepeatable { return false }
    timesSent += 1
    return true
  }

  func take(header line: String) {
    // A status line: the headers before it belonged to an interim response.
    if line.hasPrefix("HTTP/") { answer.headers = [:] }
    let scalars = line.unicodeScalars
    guard let colon = scalars.firstIndex(of: ":") else { return }
    let name = String(scalars[..<colon]).lowercased()
    answer.headers[name] = String(
      Substring(scalars[scalars.index(after: colon)...]).trimming(" \r\n"))
  }

  func take(body piece: UnsafeRawBufferPointer) -> Bool {
    guard answer.body.count + piece.count <= Self.bodyLimit else { return false }
    unsafe answer.body.append(contentsOf: piece)
    return true
  }
}

extension Substring {
  fileprivate func trimming(_ characters: String) -> Substring {
    var text = self[...]
    while let first = text.unicodeScalars.first, characters.unicodeScalars.contains(first) {
      text.unicodeScalars.removeFirst()
    }
    while let last = text.unicodeScalars.last, characters.unicodeScalars.contains(last) {
      text.unicodeScalars.removeLast()
    }
    return text
  }
}

func prepareDoorTLS(
  _: UnsafeMutableRawPointer?, tls: UnsafeMutableRawPointer?, anchor: UnsafeMutableRawPointer?
) -> CURLcode {
  guard let tls = unsafe tls, let anchor = unsafe anchor else { return CURLE_SSL_CONNECT_ERROR }
  let context = unsafe Unmanaged<TLSVerifier>.fromOpaque(anchor).takeUnretainedValue()
  return unsafe context.prepare(OpaquePointer(tls)) ? CURLE_OK : CURLE_SSL_CACERT_BADFILE
}

func mayBeSent(
  anchor: UnsafeMutableRawPointer?, _: UnsafeMutablePointer<CChar>?,
  _: UnsafeMutablePointer<CChar>?, _: CInt, _: CInt
) -> CInt {
  guard let anchor = unsafe anchor else { return CURL_PREREQFUNC_ABORT }
  let context = unsafe Unmanaged<ExchangeContext>.fromOpaque(anchor).takeUnretainedValue()
  return context.mayBeSent() ? CURL_PREREQFUNC_OK : CURL_PREREQFUNC_ABORT
}

func takeHeader(
  bytes: UnsafeMutablePointer<CChar>?, one: Int, count: Int, anchor: UnsafeMutableRawPointer?
) -> Int {
  guard let bytes = unsafe bytes, let anchor = unsafe anchor else { return 0 }
  let line = unsafe UnsafeRawBufferPointer(start: bytes, count: one * count)
  unsafe Unmanaged<ExchangeContext>.fromOpaque(anchor).takeUnretainedValue()
    .take(header: String(decoding: line, as: UTF8.self))
  return one * count
}

func takeBody(
  bytes: UnsafeMutablePointer<CChar>?, one: Int, count: Int, anchor: UnsafeMutableRawPointer?
) -> Int {
  guard let bytes = unsafe bytes, let anchor = unsafe anchor else { return 0 }
  let piece = unsafe UnsafeRawBufferPointer(start: bytes, count: one * count)
  let isTaken = unsafe Unmanaged<ExchangeContext>.fromOpaque(anchor).takeUnretainedValue()
    .take(body: piece)
  return isTaken ? one * count : 0
}
