/// One request, whole.
package struct HTTPRequest: Sendable {
  /// `GET`, `POST`.
  package var method: String
  /// Without query: `/wake`.
  package var path: String
  /// The variable parts of the path, by the names that its route gives them.
  package var parameters: [String: String] = [:]
  /// What follows the `?` of the address, decoded, by its names.
  package var query: [String: String] = [:]
  /// Header fields by their names in lower case.
  package var headers: [String: String]
  /// The body.
  package var body: [UInt8]
}

/// What is answered.
package struct HTTPResponse: Sendable {
  /// The status code.
  package var status: Int
  /// `Content-Type`.
  package var contentType: String
  /// Further header fields.
  package var headers: [String: String] = [:]
  /// The body.
  package var body: [UInt8]
  /// Where it never ends: what is sent in the place of the body, as it comes.
  var events: EventListener?

  /// A line of text.
  package static func text(_ status: Int, _ text: String) -> HTTPResponse {
    HTTPResponse(
      status: status, contentType: "text/plain; charset=utf-8", body: Array((text + "\n").utf8))
  }
}
