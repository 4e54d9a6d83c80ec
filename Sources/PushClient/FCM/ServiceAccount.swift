import Base
import COpenSSL
import SystemSupport

/// The service account that sends a Firebase project's messages, as Google's file describes it.
package struct ServiceAccount: Sendable, CustomStringConvertible {
  /// The ID of the Firebase project.
  package let project: String
  /// The account's address, which its assertions name as their issuer.
  package let clientEmail: String
  /// The ID of the key in the file; without one, the start of the public key's hash.
  package let keyID: String
  /// The https URL that gives access tokens, byte for byte as in the file.
  package let tokenURI: String
  let key: PrivateKey

  /// The hash of the public key: a file may be replaced under the same names.
  private let fingerprint: [UInt8]

  /// Loads the file; a path that leads elsewhere is followed.
  ///
  /// - Throws: `ServiceAccountError`, which contains the path and the problem but nothing of the
  ///   file.
  package init(path: String) throws(ServiceAccountError) {
    var bytes: [UInt8]
    do throws(RegularFile.Failure) {
      bytes = try RegularFile.read(path, limit: Self.sizeLimit)
    } catch {
      throw ServiceAccountError(file: path, problem: "it can't be read: \(error)")
    }
    defer { unsafe OPENSSL_cleanse(&bytes, bytes.count) }
    try self.init(json: bytes, file: path)
  }

  /// Reads the text of a file.
  ///
  /// - Parameter file: The name for errors.
  package init(json: [UInt8], file: String) throws(ServiceAccountError) {
    let reader = try ServiceAccountReader(json, file: file)
    try reader.checkType()
    project = try reader.project()
    clientEmail = try reader.clientEmail()
    tokenURI = try reader.tokenURI()
    key = try reader.key()
    fingerprint = key.fingerprint
    keyID = try reader.keyID() ?? SHA256.hex(fingerprint.prefix(8))
  }

  /// In bytes; Google's files have about 2,300.
  private static let sizeLimit = 64 * 1024

  /// A short name for logs and metrics, such as `rides-prod/3f9a21`.
  package var description: String { "\(project)/\(keyID.prefix(6))" }
}

extension ServiceAccount: Hashable {
  package static func == (left: Self, right: Self) -> Bool {
    left.project == right.project && left.clientEmail == right.clientEmail
      && left.keyID == right.keyID && left.tokenURI == right.tokenURI
      && left.fingerprint == right.fingerprint
  }

  package func hash(into hasher: inout Hasher) {
    hasher.combine(project)
    hasher.combine(fingerprint)
  }
}

/// A service-account file that can't be used.
package struct ServiceAccountError: Error, Hashable, CustomStringConvertible {
  package let file: String
  /// The part of the message that describes the problem.
  package let problem: String

  package init(file: String, problem: String) {
    self.file = file
    self.problem = problem
  }

  /// One sentence without any content of the file; safe to log.
  package var description: String {
    "\(file) is not a usable service-account file: \(problem); expected the JSON file that "
      + "Firebase's console gives under Project settings, Service accounts"
  }
}
