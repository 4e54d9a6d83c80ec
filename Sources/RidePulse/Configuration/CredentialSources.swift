import PushClient
import RideCore

/// The variables of one signing key.
struct KeySource: Hashable, Sendable {
  /// The beginning of its variables' names, such as `APNS_` or `APNS_DRIVER_SANDBOX_`.
  var prefix: String
  var path: String
  /// Nil if the file's name has it.
  var keyID: String?
  var teamID: String
  /// The variable that gives the team, which several keys may share.
  var teamIDName: String

  var keyIDName: String { prefix + "KEY_ID" }
  var pathName: String { prefix + "PRIVATE_KEY_PATH" }

  /// Whether the variable contains the key itself instead of the path of its file.
  var isKeyItself: Bool { path.contains("-----BEGIN") || path.contains("\n") }

  /// Reads the key.
  ///
  /// - Throws: `CommandFailure` that names the variable and the file, and no part of the key.
  func load() throws(CommandFailure) -> SigningKey {
    if isKeyItself {
      throw CommandFailure("\(pathName) contains the key itself; expected the path of its file")
    }
    let file = SigningKeyFile(path)
    do throws(SigningKeyError) {
      if let keyID = keyID ?? file.keyID {
        return try SigningKey(file, keyID: keyID, teamID: teamID)
      }
      // An unreadable file is reported before its name.
      try SigningKey.check(file)
    } catch {
      switch error {
      case .badKeyID: throw CommandFailure("\(keyIDName): \(error)")
      case .badTeamID: throw CommandFailure("\(teamIDName): \(error)")
      case .unreadable, .notPrivateKey, .notP256, .signing:
        throw CommandFailure("\(pathName): \(error)")
      }
    }
    throw CommandFailure(
      "\(keyIDName) is not set, and \(pathName) leads to a file that is not named "
        + "AuthKey_<ID>.p8: set \(keyIDName), or keep the file name that Apple gave it")
  }
}

/// The variables of one client certificate.
struct CertificateSource: Hashable, Sendable {
  /// The beginning of its variables' names, such as `APNS_DRIVER_`.
  var prefix: String
  var path: String
  var keyPath: String

  var pathName: String { prefix + "CERTIFICATE_PATH" }
  var keyPathName: String { prefix + "CERTIFICATE_KEY_PATH" }

  /// Reads the certificate and its key.
  ///
  /// - Throws: `CommandFailure` that names the variables and the file, and no part of the key.
  func load() throws(CommandFailure) -> ClientCertificate {
    for (name, value) in [(pathName, path), (keyPathName, keyPath)]
    where value.contains("-----BEGIN") || value.contains("\n") {
      throw CommandFailure("\(name) contains PEM text; expected the path of a file")
    }
    do throws(ClientCertificateError) {
      return try ClientCertificate(path: path, keyPath: keyPath)
    } catch {
      throw CommandFailure("\(pathName), \(keyPathName): \(error)")
    }
  }
}

extension CredentialVariables {
  /// Reads every file once.
  ///
  /// - Throws: `CommandFailure` that names all problems, of the variables or of the files.
  func load(bundleIDs: [App: String]) throws(CommandFailure) -> Credentials {
    if !problems.isEmpty { throw CommandFailure(problems.joined(separator: "; ")) }
    var failures: [String] = []
    var loadedKeys: [KeySource: SigningKey] = [:]
    for source in keys {
      do throws(CommandFailure) { loadedKeys[source] = try source.load() } catch {
        failures.append(error.description)
      }
    }
    var loadedCertificates: [CertificateSource: ClientCertificate] = [:]
    for source in certificates {
      do throws(CommandFailure) { loadedCertificates[source] = try source.load() } catch {
        failures.append(error.description)
      }
    }
    if !failures.isEmpty { throw CommandFailure(failures.joined(separator: "; ")) }
    let choices = lanes.mapValues { source in
      Credentials.Choice(
        key: source.key.flatMap { loadedKeys[$0] },
        certificate: source.certificate.flatMap { loadedCertificates[$0] })
    }
    return Credentials(lanes: choices, bundleIDs: bundleIDs)
  }

  /// Reads every file again.
  ///
  /// - Throws: `CommandFailure`, also if a key was replaced, a variable still gives the old ID and
  ///   the file's name has another one: APNs would refuse every push. A new .p8 file always has a
  ///   new ID.
  func reload(after old: Credentials, bundleIDs: [App: String]) throws(CommandFailure)
    -> Credentials
  {
    let new = try load(bundleIDs: bundleIDs)
    for (source, other) in replacedKeys(old, new) {
      guard let keyID = source.keyID, let other, other != keyID else { continue }
      throw CommandFailure(
        "\(source.pathName) leads to another key now, with \(other) in its file name, and "
          + "\(source.keyIDName) is still \(keyID): unset \(source.keyIDName) and restart, and the "
          + "ID follows the file from then on")
    }
    return new
  }

  /// Returns a warning for each key that a reload replaced under an ID that only a variable gives.
  ///
  /// The file may have been corrected, so this is no error.
  func unconfirmed(after old: Credentials, _ new: Credentials) -> [String] {
    replacedKeys(old, new).compactMap { source, other in
      guard let keyID = source.keyID, other == nil else { return nil }
      return
        "\(source.pathName) leads to another key now, and \(source.keyIDName) is still \(keyID): if "
        + "Apple gave the key another ID, unset \(source.keyIDName), name the file AuthKey_<ID>.p8 "
        + "and restart"
    }
  }

  /// The sources whose key was replaced under the same ID, with the ID in the new file's name.
  private func replacedKeys(
    _ old: Credentials, _ new: Credentials
  ) -> [(source: KeySource, keyIDOfFile: String?)] {
    var replaced: [KeySource: String?] = [:]
    for (lane, source) in lanes {
      guard let source = source.key, let before = old[lane].key, let after = new[lane].key,
        before != after, before.keyID == after.keyID
      else { continue }
      replaced[source] = .some(after.keyIDOfFile)
    }
    return replaced.sorted { $0.key.prefix < $1.key.prefix }.map {
      (source: $0.key, keyIDOfFile: $0.value)
    }
  }

  /// Every key's source, in the order of their names.
  var keys: [KeySource] {
    Set(lanes.values.compactMap(\.key)).sorted { $0.prefix < $1.prefix }
  }

  /// Every certificate's source, in the order of their names.
  var certificates: [CertificateSource] {
    Set(lanes.values.compactMap(\.certificate)).sorted { $0.prefix < $1.prefix }
  }
}
