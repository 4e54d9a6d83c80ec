import Foundation
import TestSupport

@testable import PushClient

/// Texts of service-account files, with keys that the `openssl` command made.
struct AccountFile {
  var members: [String: String] = [
    "type": "service_account", "project_id": "rides-prod",
    "private_key_id": "3f9a21c0ffee", "client_email": "sender@rides-prod.iam.gserviceaccount.com",
    "token_uri": "https://oauth2.googleapis.com/token",
  ]

  /// - Parameter key: A file of `AccountKeys`.
  init(key: String = "rsa.pem") throws {
    members["private_key"] = try AccountKeys.shared.get().text(key)
  }

  /// The text, in which a value that is not a text stays as it is.
  func json(_ other: [String: Any] = [:]) throws -> [UInt8] {
    let all = (members as [String: Any]).merging(other) { $1 }
    return Array(try JSONSerialization.data(withJSONObject: all))
  }

  func account() throws -> ServiceAccount { try ServiceAccount(json: json(), file: "a.json") }
}

/// Private keys, created once per run.
struct AccountKeys: Sendable {
  static let shared = Result { try AccountKeys() }

  private let folder: String

  private init() throws {
    folder = try ScratchFolder.create("accounts")
    try openssl("genpkey -algorithm RSA -pkeyopt rsa_keygen_bits:2048 -out rsa.pem")
    try openssl("genpkey -algorithm RSA -pkeyopt rsa_keygen_bits:2048 -out other.pem")
    try openssl("genpkey -algorithm RSA -pkeyopt rsa_keygen_bits:1024 -out short.pem")
    try openssl("genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out ec.pem")
    try openssl("rsa -in rsa.pem -traditional -out pkcs1.pem")
    try openssl("pkcs8 -topk8 -in rsa.pem -passout pass:secret -out locked.pem")
    try openssl("pkey -in rsa.pem -pubout -out public.pem")
  }

  func path(_ name: String) -> String { folder + "/" + name }

  func text(_ name: String) throws -> String {
    try String(contentsOfFile: path(name), encoding: .utf8)
  }

  private func openssl(_ arguments: String) throws {
    let words = arguments.split(separator: " ").map(String.init)
    let result = try Tool.run("/usr/bin/openssl", words, in: folder)
    guard result.status == 0 else { throw TestFailure("openssl \(arguments): \(result.errors)") }
  }
}
