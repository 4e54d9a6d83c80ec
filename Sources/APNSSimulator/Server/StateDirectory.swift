import SimulatorKit

/// The files that persist across runs.
struct StateDirectory {
  let path: String
  /// The key that exists without `keys.json`.
  let keyID: String

  var requestsPath: String { path + "/requests.jsonl" }
  var channelsPath: String { path + "/channels.json" }
  var channelRequestsPath: String { path + "/channels.jsonl" }
  var broadcastsPath: String { path + "/broadcasts.jsonl" }
  var deliveriesPath: String { path + "/deliveries.jsonl" }
  var tokensPath: String { path + "/tokens.json" }
  var keysPath: String { path + "/keys.json" }
  var certificates: CertificateFiles {
    CertificateFiles(directory: path, authorityName: "RidePulse APNs simulator CA")
  }

  /// Returns the key that verifies the JWTs of a key ID: `AuthKey_<ID>.pub.pem`, or the public half
  /// of `AuthKey_<ID>.p8`, which is created if both files are missing.
  func verificationKey(_ keyID: String) throws -> SigningKey {
    let publicPath = path + "/AuthKey_\(keyID).pub.pem"
    let privatePath = path + "/AuthKey_\(keyID).p8"
    if !File.exists(publicPath) {
      if !File.exists(privatePath) {
        // Two simulators may share the directory; the first one's key counts.
        try File.create(SigningKey.generate().privatePEM(), at: privatePath, mode: 0o600)
      }
      let key = try SigningKey(privatePEM: File.read(privatePath))
      try File.write(try key.publicPEM(), to: publicPath, mode: 0o644)
    }
    return try SigningKey(publicPEM: File.read(publicPath))
  }
}
