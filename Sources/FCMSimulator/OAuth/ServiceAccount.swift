import SimulatorKit

/// A project's service account, whose file a sender reads.
struct ServiceAccount {
  let project: String
  let email: String
  let tokenURI: String
  /// Verifies the account's assertions.
  let key: SigningKey

  /// Reads the key of the account's file, or creates one; then writes the file anew, because the
  /// port may be another one.
  init(project: String, path: String, tokenURI: String) throws {
    self.project = project
    self.tokenURI = tokenURI
    email = "ridepulse@\(project).iam.gserviceaccount.com"
    var pem: [UInt8]?
    if File.exists(path) {
      let members = try File.parse(File.read(path), of: path, FormatReader.json).object
      pem = members?["private_key"]?.string.map { Array($0.utf8) }
    }
    key = try pem.map(SigningKey.init(privatePEM:)) ?? SigningKey.generateRSA()
    let members: [String: JSON] = [
      "type": .string("service_account"), "project_id": .string(project),
      "private_key_id": .string("5fc0de" + String(project.utf8.count)),
      "private_key": .string(String(decoding: try key.privatePEM(), as: UTF8.self)),
      "client_email": .string(email), "client_id": .string("100000000000000000001"),
      "token_uri": .string(tokenURI),
    ]
    try File.write(JSON.object(members).serialized, to: path, mode: 0o600)
  }
}
