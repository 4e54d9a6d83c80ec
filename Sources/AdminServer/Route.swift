package struct Route: Sendable {
  /// Returns the response; the request carries the variable parts of the path.
  package typealias Handler = @Sendable (HTTPRequest) async -> HTTPResponse

  /// `GET` or `POST`, for example.
  package let method: String
  /// The path; a segment such as `{id}` matches any text that is not empty.
  package let path: String
  package let isWriting: Bool
  /// Requires the token if one is configured; without one, only a server on a loopback address
  /// answers.
  package let isPrivate: Bool
  let handler: Handler
  private let segments: [Substring.UTF8View]

  package init(
    _ method: String, _ path: String, isWriting: Bool = false, isPrivate: Bool = false,
    _ handler: @escaping Handler
  ) {
    self.method = method
    self.path = path
    self.isWriting = isWriting
    self.isPrivate = isPrivate
    self.handler = handler
    segments = Self.split(path)
  }

  package func answer(_ request: HTTPRequest) async -> HTTPResponse { await handler(request) }

  /// Splits by bytes: a slash followed by a combining mark is one Character.
  private static func split(_ path: String) -> [Substring.UTF8View] {
    path.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
  }

  /// Splits a path at its slashes and decodes the parts; an encoded slash belongs to its part.
  ///
  /// Nil if a part is not UTF-8 with percent-encoding.
  static func parts(of path: String) -> [String]? {
    var parts: [String] = []
    for part in split(path) {
      guard let text = PercentEncoding.decoded(part) else { return nil }
      parts.append(text)
    }
    return parts
  }

  /// Returns the variable parts of a matching path; nil if the path does not match.
  func parameters(of parts: [String]) -> [String: String]? {
    guard parts.count == segments.count else { return nil }
    var parameters: [String: String] = [:]
    for (segment, part) in zip(segments, parts) {
      if segment.first == UInt8(ascii: "{") {
        if part.isEmpty { return nil }
        parameters[String(Substring(segment.dropFirst().dropLast()))] = part
      } else if !segment.elementsEqual(part.utf8) {
        return nil
      }
    }
    return parameters
  }
}

enum PercentEncoding {
  /// Returns the text that bytes such as `a%2Fb` encode; nil if `%` is not followed by two
  /// hexadecimal digits, or if the result is not UTF-8.
  static func decoded(_ bytes: some Sequence<UInt8>) -> String? {
    var decoded: [UInt8] = []
    var rest = bytes.makeIterator()
    while let byte = rest.next() {
      guard byte == UInt8(ascii: "%") else {
        decoded.append(byte)
        continue
      }
      guard let high = rest.next().flatMap(digit), let low = rest.next().flatMap(digit) else {
        return nil
      }
      decoded.append(high * 16 + low)
    }
    return String(validating: decoded, as: UTF8.self)
  }

  private static func digit(_ byte: UInt8) -> UInt8? {
    switch byte {
    case 48...57: byte - 48
    case 65...70: byte - 55
    case 97...102: byte - 87
    default: nil
    }
  }
}

package struct HTTPRequest: Sendable {
  /// `GET` or `POST`, for example.
  package var method: String
  /// The path without the query, such as `/wake`, as it was sent: with percent-encoding.
  package var path: String
  /// The variable parts of the path, by the names in its route.
  package var parameters: [String: String] = [:]
  /// The decoded query parameters by name.
  package var query: [String: String] = [:]
  /// The header fields, by names in lower case.
  package var headers: [String: String]
  /// Why the request can't be answered, such as two lengths of its body; nil if it can.
  package var fault: APIError?
  package var body: [UInt8]

  /// The refusal of a parameter with a NUL, which Postgres stores in no text; nil if there is none.
  var nul: APIError? {
    let named = (Array(parameters) + Array(query)).first { $0.value.utf8.contains(0) }
    return named.map { APIError(.invalidValue, "\($0.key) has %00", field: $0.key) }
  }
}

package struct HTTPResponse: Sendable {
  package var status: Int
  package var contentType: String
  package var headers: [String: String] = [:]
  package var body: [UInt8]
  /// The source of an endless stream, which is sent instead of the body.
  var events: EventListener?

  /// Returns a response with one line of plain text.
  package static func text(_ status: Int, _ text: String) -> HTTPResponse {
    HTTPResponse(
      status: status, contentType: "text/plain; charset=utf-8", body: Array((text + "\n").utf8))
  }
}
