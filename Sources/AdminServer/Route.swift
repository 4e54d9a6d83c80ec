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

  /// Splits by bytes: a slash followed by a combining mark is one Character.
  private static func split(_ path: String) -> [Substring.UTF8View] {
    path.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
  }

  /// Returns the variable parts of a matching path; nil if the path does not match.
  func parameters(of path: String) -> [String: String]? {
    let parts = Self.split(path)
    guard parts.count == segments.count else { return nil }
    var parameters: [String: String] = [:]
    for (segment, part) in zip(segments, parts) {
      if segment.first == UInt8(ascii: "{") {
        if part.isEmpty { return nil }
        parameters[String(Substring(segment.dropFirst().dropLast()))] = String(Substring(part))
      } else if !segment.elementsEqual(part) {
        return nil
      }
    }
    return parameters
  }
}

package struct HTTPRequest: Sendable {
  /// `GET` or `POST`, for example.
  package var method: String
  /// The path without the query, such as `/wake`.
  package var path: String
  /// The variable parts of the path, by the names in its route.
  package var parameters: [String: String] = [:]
  /// The decoded query parameters by name.
  package var query: [String: String] = [:]
  /// The header fields, by names in lower case.
  package var headers: [String: String]
  package var body: [UInt8]
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
