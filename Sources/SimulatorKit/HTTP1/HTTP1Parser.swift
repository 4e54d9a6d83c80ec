/// Parses a request of HTTP/1.1 (RFC 9112).
struct HTTP1Parser {
  enum Progress: Equatable {
    case incomplete
    case malformed(String)
    /// - Parameter end: the number of bytes that the request has.
    case request(Request, end: Int, isLast: Bool)
  }

  func parse(_ bytes: [UInt8]) -> Progress {
    guard let head = Self.end(of: bytes, from: 0) else { return .incomplete }
    let lines = bytes[..<head].split(separator: UInt8(ascii: "\n")).map { line in
      String(decoding: line.last == UInt8(ascii: "\r") ? line.dropLast() : line, as: UTF8.self)
    }
    let words = (lines.first ?? "").split(separator: " ")
    guard words.count == 3, words[2].hasPrefix("HTTP/1.") else {
      return .malformed("no request line")
    }
    var request = Request()
    request.headers = [
      Header(name: ":method", value: String(words[0])),
      Header(name: ":path", value: String(words[1])),
    ]
    for line in lines.dropFirst() where !line.isEmpty {
      guard let colon = line.firstIndex(of: ":") else {
        return .malformed("a header without colon")
      }
      let value = line[line.index(after: colon)...].drop { $0 == " " || $0 == "\t" }
      request.headers.append(Header(name: line[..<colon].lowercased(), value: String(value)))
    }
    let isLast = request.value("connection")?.lowercased() == "close" || words[2] == "HTTP/1.0"
    return body(of: request, bytes, from: head, isLast: isLast)
  }

  private func body(
    of request: Request, _ bytes: [UInt8], from start: Int, isLast: Bool
  ) -> Progress {
    var request = request
    if request.value("transfer-encoding")?.lowercased() == "chunked" {
      return chunks(of: request, bytes, from: start, isLast: isLast)
    }
    guard let length = Int(request.value("content-length") ?? "0"), length >= 0 else {
      return .malformed("a wrong content-length")
    }
    guard length <= StreamTable.maximumBodyBytes else { return .malformed("a body too large") }
    guard bytes.count - start >= length else { return .incomplete }
    request.body = Array(bytes[start..<start + length])
    request.bodyBytes = length
    return .request(request, end: start + length, isLast: isLast)
  }

  private func chunks(
    of request: Request, _ bytes: [UInt8], from start: Int, isLast: Bool
  ) -> Progress {
    var request = request
    var position = start
    while true {
      guard let line = bytes[position...].firstIndex(of: UInt8(ascii: "\n")) else {
        return .incomplete
      }
      let text = String(decoding: bytes[position..<line], as: UTF8.self)
      let digits = text.prefix { $0.isHexDigit }
      guard let size = Int(digits, radix: 16), size <= StreamTable.maximumBodyBytes else {
        return .malformed("a wrong chunk")
      }
      position = line + 1
      guard bytes.count >= position + size + 2 else { return .incomplete }
      if size == 0 { return .request(request, end: position + 2, isLast: isLast) }
      request.body += bytes[position..<position + size]
      request.bodyBytes += size
      guard request.bodyBytes <= StreamTable.maximumBodyBytes else {
        return .malformed("a body too large")
      }
      position += size + 2
    }
  }

  /// Returns where the empty line after the head ends.
  private static func end(of bytes: [UInt8], from start: Int) -> Int? {
    var lineBegin = start
    for index in bytes.indices.dropFirst(start) where bytes[index] == UInt8(ascii: "\n") {
      let line = bytes[lineBegin..<index]
      if line.isEmpty || line.elementsEqual([UInt8(ascii: "\r")]) { return index + 1 }
      lineBegin = index + 1
    }
    return nil
  }
}
