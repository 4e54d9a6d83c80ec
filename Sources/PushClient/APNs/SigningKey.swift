import SystemSupport

/// The .p8 key with which a team signs its provider tokens.
package struct SigningKey: Sendable, CustomStringConvertible {
  /// The ID that Apple gave the key.
  package let keyID: String

  /// The team that owns the key.
  package let teamID: String

  /// The ID in the name of the file that was read; nil if the name has none.
  package let keyIDOfFile: String?

  let key: PrivateKey

  /// The hash of the public key: a file may be replaced under the same key ID.
  private let fingerprint: [UInt8]

  /// Loads the key from a file.
  ///
  /// - Throws: `SigningKeyError`, which contains the file and the problem but no part of the key.
  package init(path: String, keyID: String, teamID: String) throws(SigningKeyError) {
    try self.init(SigningKeyFile(path), keyID: keyID, teamID: teamID)
  }

  /// Loads the key from a file whose path was followed before.
  package init(_ file: SigningKeyFile, keyID: String, teamID: String) throws(SigningKeyError) {
    guard Self.isTenCharacterID(keyID) else { throw .badKeyID(keyID) }
    guard Self.isTenCharacterID(teamID) else { throw .badTeamID(teamID) }
    self.keyID = keyID
    self.teamID = teamID
    keyIDOfFile = file.keyID
    key = try Self.key(of: file)
    fingerprint = key.fingerprint
  }

  private static func key(of file: SigningKeyFile) throws(SigningKeyError) -> PrivateKey {
    let path = file.path
    let key: PrivateKey
    do throws(PrivateKey.LoadError) { key = try PrivateKey(path: file.target) } catch {
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
  package static func check(_ file: SigningKeyFile) throws(SigningKeyError) {
    _ = try key(of: file)
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
}

/// The file of a signing key, with its path followed once.
///
/// A symbolic link may move at any time, so the name that gives the ID and the content that signs
/// must be those of one file.
package struct SigningKeyFile: Hashable, Sendable {
  /// The path that was given, for messages.
  package let path: String

  /// The path of the file that the given one leads to; nil if it leads nowhere.
  private let resolved: String?

  /// Follows the symbolic links of a path.
  package init(_ path: String) {
    self.path = path
    resolved = RegularFile.target(of: path)
  }

  /// The path to read: the given one if it leads nowhere, for the system's reason.
  package var target: String { resolved ?? path }

  /// The key ID in the file's name, `AuthKey_<ID>.p8`; nil if it has another name, or is missing.
  package var keyID: String? {
    guard let name = resolved?.split(separator: "/").last, name.hasPrefix("AuthKey_"),
      name.hasSuffix(".p8")
    else { return nil }
    let id = String(name.dropFirst("AuthKey_".count).dropLast(".p8".count))
    return SigningKey.isTenCharacterID(id) ? id : nil
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
