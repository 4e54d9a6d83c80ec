/// One request, whole.
public struct HTTPRequest: Sendable {
  /// `GET`, `POST`.
  public var method: String
  /// Without query: `/wake`.
  public var path: String
  /// The variable parts of the path, by the names that its route gives them.
  public var parameters: [String: String] = [:]
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

  /// A line of text.
  public static func text(_ status: Int, _ text: String) -> HTTPResponse {
    HTTPResponse(
      status: status, contentType: "text/plain; charset=utf-8", body: Array((text + "\n").utf8))
  }
}
