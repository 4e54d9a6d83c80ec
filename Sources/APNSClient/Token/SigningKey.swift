import SystemSupport

/// The .p8 key with which a team signs its provider tokens.
package struct SigningKey: Sendable, CustomStringConvertible {
  /// The ID that Apple gave the key.
  package let keyID: String

  /// The team that owns the key.
  package let teamID: String

  let key: PrivateKey

  /// The hash of the public key: a file may be replaced under the same key ID.
  private let fingerprint: [UInt8]

  /// Loads the key from a file.
  ///
  /// - Throws: `SigningKeyError`, which contains the file and the problem but no part of the key.
  package init(path: String, keyID: String, teamID: String) throws(SigningKeyError) {
    guard Self.isTenCharacterID(keyID) else { throw .badKeyID(keyID) }
    guard Self.isTenCharacterID(teamID) else { throw .badTeamID(teamID) }
    self.keyID = keyID
    self.teamID = teamID
    key = try Self.key(at: path)
    fingerprint = key.fingerprint
  }

  private static func key(at path: String) throws(SigningKeyError) -> PrivateKey {
    let key: PrivateKey
    do throws(PrivateKey.LoadError) { key = try PrivateKey(path: path) } catch {
      switch error {
      case .unreadable(let reason): throw .unreadable(path: path, reason: reason)
      case .notPrivateKey: throw .notPrivateKey(path: path)
      }
    }
    let kind = key.groupName()
    guard kind == "prime256v1" else { throw .notP256(path: path, found: kind) }
    return key
  }

  /// Checks a key file, whatever its name.
  ///
  /// - Throws: `SigningKeyError` if the file can't be used for signing.
  package static func check(path: String) throws(SigningKeyError) {
    _ = try key(at: path)
  }

  /// The IDs, without the key.
  package var description: String { "APNs signing key \(keyID) of team \(teamID)" }

  /// Returns whether a text has the form of a key ID or team ID: ten characters of A-Z and 0-9.
  package static func isTenCharacterID(_ text: String) -> Bool {
    text.utf8.count == 10
      && text.utf8.allSatisfy {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0)
          || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0)
      }
  }

  /// Returns the key ID in the name of the file that a path leads to: `AuthKey_<ID>.p8`.
  ///
  /// Symbolic links are followed, so that one path can lead to a new key. Nil if the file is missing
  /// or has another name.
  package static func keyID(fromFileAt path: String) -> String? {
    guard let name = RegularFile.target(of: path)?.split(separator: "/").last,
      name.hasPrefix("AuthKey_"), name.hasSuffix(".p8")
    else { return nil }
    let id = String(name.dropFirst("AuthKey_".count).dropLast(".p8".count))
    return isTenCharacterID(id) ? id : nil
  }
}

extension SigningKey: Hashable {
  package static func == (left: SigningKey, right: SigningKey) -> Bool {
    left.keyID == right.keyID && left.teamID == right.teamID
      && left.fingerprint == right.fingerprint
  }

  package func hash(into hasher: inout Hasher) {
    hasher.combine(keyID)
    hasher.combine(fingerprint)
  }
}

/// Why a signing key can't be used; no case contains any part of the key.
package enum SigningKeyError: Error, Hashable, Sendable {
  /// The file can't be read; the reason is the system's text.
  case unreadable(path: String, reason: String)

  /// The file holds no unencrypted private key in PEM form.
  case notPrivateKey(path: String)

  /// The file holds a key of another type.
  case notP256(path: String, found: String)

  /// The key ID is not ten characters of A-Z and 0-9.
  case badKeyID(String)

  /// The team ID is not ten characters of A-Z and 0-9.
  case badTeamID(String)

  /// OpenSSL failed to sign; the text is its own.
  case signing(String)
}

extension SigningKeyError: CustomStringConvertible {
  /// The problem and the expected form; safe to log.
  package var description: String {
    switch self {
    case .unreadable(let path, let reason):
      "can't read the APNs signing key \(path): \(reason)"
    case .notPrivateKey(let path):
      "\(path) holds no APNs signing key: expected the .p8 file from Apple, which begins with "
        + "\"-----BEGIN PRIVATE KEY-----\""
    case .notP256(let path, let found):
      "\(path) holds a key of type \(found): expected an EC key on P-256 (prime256v1), as in "
        + "Apple's .p8 file"
    case .badKeyID(let value):
      "\"\(value)\" is no APNs key ID: expected 10 characters of A-Z and 0-9"
    case .badTeamID(let value):
      "\"\(value)\" is no Apple team ID: expected 10 characters of A-Z and 0-9"
    case .signing(let reason):
      "OpenSSL could not sign the provider token: \(reason)"
    }
  }
}
