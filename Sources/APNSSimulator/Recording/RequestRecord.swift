import SimulatorKit

/// One line of a record file.
struct RequestRecord {
  let receivedAt: WallTime
  let client: Client
  let stream: Int32
  let request: Request
  let target: Target
  let providerToken: ProviderToken?
  /// The body, if it has been parsed.
  let payload: JSON?
  let environment: Environment
  /// Zero if a fault leaves the push without an answer.
  let status: Int
  let reason: String?
  let detail: String?
  /// Why the phone drops the push, although it was accepted.
  let dropped: String?
  let fault: String?
  let apnsID: String
  let uniqueID: String?

  /// The target of the request.
  enum Target {
    case token(String)
    /// A channel call or a broadcast; the name is nil if the call is unknown.
    case call(String?, channel: String?)
  }

  func write(to output: inout [UInt8]) {
    output += "{\"received_at\":".utf8
    output += receivedAt.decimalSeconds.utf8
    output += ",\"connection\":\(client.number),\"stream\":\(stream),\"status\":\(status)".utf8
    Self.member("reason", reason, to: &output)
    Self.member("detail", detail, to: &output)
    Self.member("dropped", dropped, to: &output)
    Self.member("fault", fault, to: &output)
    Self.member("environment", environment.rawValue, to: &output)
    Self.member("method", request.method, to: &output)
    Self.member("path", request.path, to: &output)
    switch target {
    case .token(let token):
      Self.member("apns_id", apnsID, to: &output)
      Self.member("token", token, to: &output)
    case .call(let kind, let channel):
      Self.member("request_id", apnsID, to: &output)
      Self.member("call", kind, to: &output)
      Self.member("channel", channel, to: &output)
    }
    Self.member("apns_unique_id", uniqueID, to: &output)
    writeHeaders(to: &output)
    writeCredential(to: &output)
    writePayload(to: &output)
    output += "}\n".utf8
  }

  private static func member(_ name: String, _ value: String?, to output: inout [UInt8]) {
    guard let value else { return }
    output += ",\"\(name)\":".utf8
    output.appendJSONString(value)
  }

  /// Writes the headers; a duplicated header becomes a list, so that no value is lost.
  private func writeHeaders(to output: inout [UInt8]) {
    output += ",\"headers\":{".utf8
    // An accepted push has no duplicate header; only refused ones pay for the check.
    let mayRepeat = reason != nil
    var isFirst = true
    var written: Set<String> = []
    for header in request.headers {
      if mayRepeat, !written.insert(header.name).inserted { continue }
      if !isFirst { output.append(UInt8(ascii: ",")) }
      isFirst = false
      output.appendJSONString(header.name)
      output.append(UInt8(ascii: ":"))
      writeValue(of: header, mayRepeat: mayRepeat, to: &output)
    }
    output.append(UInt8(ascii: "}"))
  }

  private func writeValue(of header: Header, mayRepeat: Bool, to output: inout [UInt8]) {
    guard mayRepeat else { return output.appendJSONString(Self.redacted(header)) }
    let values = request.headers.filter { $0.name == header.name }.map { Self.redacted($0) }
    if values.count == 1 { return output.appendJSONString(values[0]) }
    output += JSON.array(values.map { .string($0) }).serialized
  }

  private static func redacted(_ header: Header) -> String {
    guard header.name == "authorization" else { return header.value }
    return header.value.lowercased().hasPrefix("bearer ") ? "bearer …" : "…"
  }

  /// Writes what authenticated the request: the certificate's identity or the JWT's claims.
  private func writeCredential(to output: inout [UInt8]) {
    if let certificate = client.certificate {
      let members: [String: JSON] = [
        "name": .string(certificate.commonName), "serial": .string(certificate.serial),
        "topics": .array(certificate.topics.map { .string($0) }),
      ]
      output += ",\"certificate\":".utf8
      output += JSON.object(members).serialized
      return
    }
    guard let token = providerToken else { return }
    let members = ["kid": token.keyID, "iss": token.issuer, "iat": token.issuedAt]
    output += ",\"jwt\":".utf8
    output += JSON.object(members.compactMapValues { $0 }).serialized
  }

  private var isJSON: Bool {
    if payload != nil { return true }
    guard request.bodyBytes == request.body.count else { return false }
    return (try? JSONParser.parse(request.body)) != nil
  }

  private func writePayload(to output: inout [UInt8]) {
    output += ",\"payload_bytes\":\(request.bodyBytes)".utf8
    if request.body.isEmpty { return }
    if isJSON {
      output += ",\"payload\":".utf8
      // Written unchanged except for control characters: raw line breaks in JSON are legal only
      // between tokens, and the record must be one line.
      output += request.body.map { $0 < 0x20 ? 0x20 : $0 }
    } else if let text = String(validating: request.body, as: UTF8.self) {
      Self.member("payload_text", text, to: &output)
    } else {
      Self.member("payload_base64url", Base64URL.encode(request.body), to: &output)
    }
  }
}
