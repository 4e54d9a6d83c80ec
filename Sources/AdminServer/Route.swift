/// One thing that the server does.
package struct Route: Sendable {
  /// Makes the answer; the path's variable part comes with the request.
  package typealias Handler = @Sendable (HTTPRequest) async -> HTTPResponse

  /// `GET`, `POST`.
  package let method: String
  /// Segments; one such as `{id}` stands for any text.
  package let path: String
  /// Only who has the token may.
  package let isWriting: Bool
  /// Only who has the token may, where there is one; without one only this machine.
  package let isPrivate: Bool
  let handler: Handler
  private let segments: [Substring.UTF8View]

  /// A thing that the server does.
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

  /// By bytes: a slash before a combining mark is one Character.
  private static func split(_ path: String) -> [Substring.UTF8View] {
    path.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
  }

  /// The variable parts of a path that is this one's; nil where it is not.
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
