import CLibcurl

/// The headers and the body that curl receives for one request.
final class CurlAnswer {
  private(set) var headers: [String: String] = [:]
  private(set) var body: [UInt8] = []
  /// True if the body has more bytes than the limit; the transfer ended there.
  private(set) var isTooLong = false
  let bodyLimit: Int

  init(bodyLimit: Int) {
    self.bodyLimit = bodyLimit
  }

  func clear() {
    headers = [:]
    body = []
    isTooLong = false
  }

  /// The options that make curl write into this object, which must outlive the request.
  func options(of curl: CurlHandle) -> [CURLcode] {
    let anchor = unsafe Unmanaged.passUnretained(self).toOpaque()
    return unsafe [
      curl_easy_setopt_pointer(curl.pointer, CURLOPT_HEADERDATA, anchor),
      curl_easy_setopt_write_function(curl.pointer, CURLOPT_HEADERFUNCTION, receiveHeader),
      curl_easy_setopt_pointer(curl.pointer, CURLOPT_WRITEDATA, anchor),
      curl_easy_setopt_write_function(curl.pointer, CURLOPT_WRITEFUNCTION, receiveBody),
    ]
  }

  fileprivate func receive(header line: String) {
    // A status line: the headers before it belonged to an interim response.
    if line.hasPrefix("HTTP/") { headers = [:] }
    let scalars = line.unicodeScalars
    guard let colon = scalars.firstIndex(of: ":") else { return }
    let name = String(scalars[..<colon]).lowercased()
    headers[name] = String(Substring(scalars[scalars.index(after: colon)...]).trimming(" \r\n"))
  }

  fileprivate func receive(body piece: UnsafeRawBufferPointer) -> Bool {
    isTooLong = body.count + piece.count > bodyLimit
    if isTooLong { return false }
    unsafe body.append(contentsOf: piece)
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

private func receiveHeader(
  bytes: UnsafeMutablePointer<CChar>?, one: Int, count: Int, anchor: UnsafeMutableRawPointer?
) -> Int {
  guard let bytes = unsafe bytes, let anchor = unsafe anchor else { return 0 }
  let line = unsafe UnsafeRawBufferPointer(start: bytes, count: one * count)
  unsafe Unmanaged<CurlAnswer>.fromOpaque(anchor).takeUnretainedValue()
    .receive(header: String(decoding: line, as: UTF8.self))
  return one * count
}

private func receiveBody(
  bytes: UnsafeMutablePointer<CChar>?, one: Int, count: Int, anchor: UnsafeMutableRawPointer?
) -> Int {
  guard let bytes = unsafe bytes, let anchor = unsafe anchor else { return 0 }
  let piece = unsafe UnsafeRawBufferPointer(start: bytes, count: one * count)
  let isReceived = unsafe Unmanaged<CurlAnswer>.fromOpaque(anchor).takeUnretainedValue()
    .receive(body: piece)
  return isReceived ? one * count : 0
}
