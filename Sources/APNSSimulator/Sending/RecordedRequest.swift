import SimulatorKit

/// A request as a record file has it, with the answer that it received.
struct RecordedRequest {
  let line: Int
  let connection: Int
  let receivedAt: Double
  let status: Int
  let reason: String?
  let isDropped: Bool
  let fault: String?
  let keyID: String?
  let teamID: String?
  /// The request; `authorization` is as recorded, without its JWT.
  let request: Request

  /// The members that a replay reads; the record has others.
  private struct Reader {
    let members: [String: JSON]
    let path: String

    func error(_ key: String, _ expected: String) -> FormatError {
      FormatError(
        path: "\(path).\(key)", found: members[key]?.description ?? "nothing", expected: expected)
    }

    func integer(_ key: String) throws(FormatError) -> Int {
      guard let value = members[key]?.integer else { throw error(key, "an integer") }
      return value
    }
  }

  init(_ text: ArraySlice<UInt8>, line: Int) throws(FormatError) {
    let path = "line \(line)"
    let members = try Self.members(text, path)
    let reader = Reader(members: members, path: path)
    self.line = line
    connection = try reader.integer("connection")
    status = try reader.integer("status")
    guard let time = members["received_at"]?.double else {
      throw reader.error("received_at", "epoch seconds")
    }
    receivedAt = time
    reason = members["reason"]?.string
    isDropped = members["dropped"] != nil
    fault = members["fault"]?.string
    keyID = members["jwt"]?.object?["kid"]?.string
    teamID = members["jwt"]?.object?["iss"]?.string
    var request = Request()
    request.headers = try Self.headers(reader)
    request.body = try Self.body(text, reader)
    request.bodyBytes = request.body.count
    self.request = request
  }

  private static func members(
    _ text: ArraySlice<UInt8>, _ path: String
  ) throws(FormatError) -> [String: JSON] {
    let json: JSON
    do throws(JSONError) {
      // The payload is one level deeper than it was in its request.
      json = try JSONParser.parse(Array(text), maximumDepth: JSONParser.maximumDepth + 1)
    } catch {
      throw FormatError(
        path: path, found: "no JSON at byte \(error.offset)", expected: error.expected)
    }
    guard let members = json.object else {
      throw FormatError(path: path, found: json.description, expected: "an object")
    }
    return members
  }

  /// Returns the headers, pseudo-headers first; the length of the body is left to HTTP/2.
  private static func headers(_ reader: Reader) throws(FormatError) -> [Header] {
    guard let members = reader.members["headers"]?.object else {
      throw reader.error("headers", "an object")
    }
    var headers: [Header] = []
    for (name, value) in members.sorted(by: { $0.key < $1.key }) where name != "content-length" {
      for value in value.array ?? [value] {
        guard let text = value.string else {
          throw FormatError(
            path: "\(reader.path).headers.\(name)", found: value.description, expected: "a string")
        }
        headers.append(Header(name: name, value: text))
      }
    }
    return headers
  }

  /// Returns the body as it was sent.
  private static func body(
    _ line: ArraySlice<UInt8>, _ reader: Reader
  ) throws(FormatError) -> [UInt8] {
    let members = reader.members
    let count = try reader.integer("payload_bytes")
    guard (0...1 << 20).contains(count) else { throw reader.error("payload_bytes", "up to 1 MB") }
    let body: [UInt8]
    if let payload = members["payload"] {
      body = raw(line, count) ?? payload.serialized
    } else if let text = members["payload_text"]?.string {
      body = Array(text.utf8)
    } else if let text = members["payload_base64url"]?.string {
      guard let bytes = Base64URL.decode(text[...]) else {
        throw reader.error("payload_base64url", "base64url")
      }
      body = bytes
    } else {
      body = []
    }
    // A body that was larger than what is recorded was refused for its size alone.
    return body + [UInt8](repeating: 0x20, count: max(0, count - body.count))
  }

  /// Returns the payload's text, the last member of a line; nil if another program wrote the line.
  private static func raw(_ line: ArraySlice<UInt8>, _ count: Int) -> [UInt8]? {
    let name = Array("\"payload\":".utf8)
    guard line.count > count + name.count,
      line.dropLast(count + 1).suffix(name.count).elementsEqual(name)
    else { return nil }
    return Array(line.dropLast().suffix(count))
  }
}

extension RecordedRequest {
  /// Reads a record file; empty lines are skipped.
  static func read(_ content: [UInt8]) throws(FormatError) -> [RecordedRequest] {
    let lines = content.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    var requests: [RecordedRequest] = []
    for (index, line) in lines.enumerated() where !line.isEmpty {
      requests.append(try RecordedRequest(line, line: index + 1))
    }
    return requests
  }

  /// Whether the request was refused for its JWT, which the record does not have.
  var wasRefusedForToken: Bool {
    let reasons: [Reason] = [
      .invalidProviderToken, .expiredProviderToken, .tooManyProviderTokenUpdates,
    ]
    return fault == nil && reasons.contains { $0.rawValue == reason }
  }
}
