import Base

/// Reads and checks the members of a service-account file; no error contains a value of it.
struct ServiceAccountReader {
  private let members: JSONValue
  private let file: String

  init(_ json: [UInt8], file: String) throws(ServiceAccountError) {
    self.file = file
    guard let members = JSONValue(json: json), case .object = members else {
      throw ServiceAccountError(file: file, problem: "it is not a JSON object")
    }
    self.members = members
  }

  func checkType() throws(ServiceAccountError) {
    guard try text("type") == "service_account" else {
      throw failure("its type is not service_account")
    }
  }

  /// Letters, digits and hyphens; in those of a domain also colons and dots. It is a part of a URL.
  func project() throws(ServiceAccountError) -> String {
    let text = try text("project_id")
    guard Self.isWord(text, also: "-:._", longest: 128) else {
      throw failure("its project_id does not have the form of one")
    }
    return text
  }

  func clientEmail() throws(ServiceAccountError) -> String {
    let text = try text("client_email")
    guard Self.isVisible(text, longest: 320), text.utf8.contains(UInt8(ascii: "@")) else {
      throw failure("its client_email is not an address")
    }
    return text
  }

  /// Nil if the file has none.
  func keyID() throws(ServiceAccountError) -> String? {
    if members["private_key_id"] ?? .null == .null { return nil }
    let text = try text("private_key_id")
    guard Self.isWord(text, also: "-_", longest: 128) else {
      throw failure("its private_key_id does not have the form of one")
    }
    return text
  }

  func tokenURI() throws(ServiceAccountError) -> String {
    let text = try text("token_uri")
    let scheme = "https://"
    let rest = text.dropFirst(text.hasPrefix(scheme) ? scheme.count : text.count)
    let host = rest.prefix { $0 != "/" }
    // A user, a query or a fragment would be sent along, or could hide the host.
    let isPlain =
      Self.isVisible(text, longest: 1024) && !text.contains { "@?#\\\"".contains($0) }
    guard isPlain, (try? APNsEndpoint(scheme + host)) != nil else {
      throw failure("its token_uri is not an https URL")
    }
    return text
  }

  func key() throws(ServiceAccountError) -> PrivateKey {
    // A file that passed through a variable has `\n` as two characters.
    let pem = try text("private_key").replacing("\\n", with: "\n")
    guard pem.contains("-----BEGIN PRIVATE KEY-----") else {
      throw failure("its private_key is not in PKCS#8 form (-----BEGIN PRIVATE KEY-----)")
    }
    let key: PrivateKey
    do throws(PrivateKey.LoadError) { key = try PrivateKey(pem: Array(pem.utf8)) } catch {
      throw failure("its private_key can't be decoded")
    }
    guard key.groupName() == "RSA" else { throw failure("its private_key is not an RSA key") }
    guard key.bits >= 2048 else { throw failure("its private_key has fewer than 2048 bits") }
    return key
  }

  private func text(_ name: String) throws(ServiceAccountError) -> String {
    guard let value = members[name], value != .null else { throw failure("it has no \(name)") }
    guard case .string(let text) = value, !text.isEmpty else {
      throw failure("its \(name) is not a text")
    }
    return text
  }

  private func failure(_ problem: String) -> ServiceAccountError {
    ServiceAccountError(file: file, problem: problem)
  }

  private static func isVisible(_ text: String, longest: Int) -> Bool {
    text.utf8.count <= longest && text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7f }
  }

  private static func isWord(_ text: String, also others: String, longest: Int) -> Bool {
    text.utf8.count <= longest
      && text.utf8.allSatisfy { byte in
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        default: others.utf8.contains(byte)
        }
      }
  }
}
