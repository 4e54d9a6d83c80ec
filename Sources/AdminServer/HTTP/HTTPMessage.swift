/// One request, whole.
public struct HTTPRequest: Sendable {
  /// `GET`, `POST`.
  public var method: String
  /// Without query: `/wake`.
  public var path: String
  /// The variable parts of the path, by the names that its route gives them.
  public var parameters: [String: String] = [:]
  /// What follows the `?` of the address, decoded, by its names.
  public var query: [String: String] = [:]
  /// Header fields by their names in lower case.
  public var headers: [String: String]
  /// The body.
  public var body: [UInt8]
}

/// What is answered.
public struct HTTPResponse: Sendable {
  /// The status code.
  public var status: Int
  /// `Content-Type`.
  public var contentType: String
  /// Further header fields.
  public var headers: [String: String] = [:]
  /// The body.
  public var body: [UInt8]
  /// Where it never ends: what is sent in the place of the body, as it comes.
  var events: EventListener?

  /// A line of text.
  public static func text(_ status: Int, _ text: String) -> HTTPResponse {
    HTTPResponse(
      status: status, contentType: "text/plain; charset=utf-8", body: Array((text + "\n").utf8))
  }
}
