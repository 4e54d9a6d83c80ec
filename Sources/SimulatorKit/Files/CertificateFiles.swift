/// The CA that clients trust and the server's certificate, which persist across runs.
package struct CertificateFiles {
  package let directory: String
  /// The name of the CA.
  package let authorityName: String

  package init(directory: String, authorityName: String) {
    self.directory = directory
    self.authorityName = authorityName
  }

  package var serverCertificatePath: String { directory + "/server.pem" }
  package var serverKeyPath: String { directory + "/server.key" }
  private var authorityPath: String { directory + "/ca.pem" }

  /// Creates the directory and missing files, and leaves existing ones unchanged.
  package func prepare() throws {
    try File.makeDirectory(directory)
    // The CA's own key is not kept, so if one file is missing, all three are created again.
    let paths = [authorityPath, serverCertificatePath, serverKeyPath]
    if paths.allSatisfy(File.exists) { return }
    let authorityKey = try SigningKey.generate()
    let authority = try Certificate.authority(named: authorityName, key: authorityKey)
    let serverKey = try SigningKey.generate()
    let server = try Certificate.server(
      named: "localhost", key: serverKey, authority: authority, authorityName: authorityName,
      authorityKey: authorityKey)
    try File.write(try serverKey.privatePEM(), to: serverKeyPath, mode: 0o600)
    try File.write(try server.pem(), to: serverCertificatePath, mode: 0o644)
    try File.write(try authority.pem(), to: authorityPath, mode: 0o644)
  }
}
