/// A complete HTTP request.
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

/// An HTTP response.
package struct HTTPResponse: Sendable {
  package var status: Int
  /// The value of `Content-Type`.
  package var contentType: String
  /// Further header fields.
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
