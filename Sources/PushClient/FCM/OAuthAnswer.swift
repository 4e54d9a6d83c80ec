import Base

/// The answer of Google's token endpoint.
enum OAuthAnswer: Hashable {
  case token(String, lifetime: Duration)
  case problem(AccessTokenProblem)

  /// Google's tokens have up to about 1 KB.
  private static let longestToken = 4096
  /// In seconds; also of an answer without `expires_in`.
  private static let usualLife: Int64 = 3600

  init(status: Int, body: [UInt8]) {
    // A longer answer is cut off by curl; a deep one is no JSON to the parser.
    let object = JSONValue(json: body)
    self = status == 200 ? Self.success(object) : Self.failure(status, object)
  }

  private static func success(_ object: JSONValue?) -> OAuthAnswer {
    guard case .string(let token) = object?["access_token"] else {
      let what = object?["id_token"] == nil ? "no access token" : "an ID token only"
      return misconfigured("no_access_token", "HTTP 200 with \(what)")
    }
    guard isHeaderValue(token) else {
      return misconfigured("no_access_token", "HTTP 200 with a token that no header can have")
    }
    var seconds = usualLife
    if case .integer(let number) = object?["expires_in"] { seconds = number }
    return .token(token, lifetime: .seconds(min(max(seconds, 1), usualLife * 24)))
  }

  private static func failure(_ status: Int, _ object: JSONValue?) -> OAuthAnswer {
    // Google's words; a request's secrets are not in its answer.
    let error = line(object?["error"]), description = line(object?["error_description"])
    let texts = [error, description].compactMap(\.self)
    let isOfConfiguration = (400..<500).contains(status) && status != 408 && status != 429
    let isWord = error?.utf8.allSatisfy { (0x61...0x7A).contains($0) || $0 == 0x5F } ?? false
    return .problem(
      AccessTokenProblem(
        word: error.flatMap { isWord && $0.utf8.count <= 40 ? $0 : nil } ?? "HTTP \(status)",
        status: status, text: texts.isEmpty ? "HTTP \(status)" : texts.joined(separator: ": "),
        isOfConfiguration: isOfConfiguration))
  }

  private static func misconfigured(_ word: String, _ text: String) -> OAuthAnswer {
    .problem(AccessTokenProblem(word: word, status: 200, text: text, isOfConfiguration: true))
  }

  private static func isHeaderValue(_ text: String) -> Bool {
    (1...longestToken).contains(text.utf8.count)
      && text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7f }
  }

  /// Returns a short line of what a server wrote; nil for anything but a text.
  private static func line(_ value: JSONValue?) -> String? {
    guard case .string(let text) = value, !text.isEmpty else { return nil }
    let bytes = text.utf8.prefix(200).map { $0 < 0x20 || $0 == 0x7f ? 0x20 : $0 }
    return String(decoding: bytes, as: UTF8.self)
  }
}
