import Glibc

/// The files that persist across runs: the CA that clients trust, the server's certificate, the JWT
/// keys.
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
  var serverCertificatePath: String { path + "/server.pem" }
  var serverKeyPath: String { path + "/server.key" }
  private var authorityPath: String { path + "/ca.pem" }

  /// Creates missing files and leaves existing ones unchanged.
  func prepare() throws {
    if unsafe mkdir(path, 0o700) != 0 && errno != EEXIST { throw FileError("mkdir", path) }
    try prepareCertificates()
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

  private func prepareCertificates() throws {
    // The CA's own key is not kept, so if one file is missing, all three are created again.
    let paths = [authorityPath, serverCertificatePath, serverKeyPath]
    if paths.allSatisfy(File.exists) { return }
    let authorityName = "RidePulse APNs simulator CA"
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

struct FileError: Error, CustomStringConvertible {
  let description: String

  init(_ call: String, _ path: String) {
    let reason = unsafe String(cString: strerror(errno))
    description = "\(path): \(call): \(reason)"
  }
}

/// Reads and writes small files as a whole.
enum File {
  static func exists(_ path: String) -> Bool {
    unsafe access(path, F_OK) == 0
  }

  static func read(_ path: String) throws(FileError) -> [UInt8] {
    let file = unsafe open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { throw FileError("open", path) }
    defer { close(file) }
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = unsafe Glibc.read(file, &chunk, chunk.count)
      guard count >= 0 else { throw FileError("read", path) }
      if count == 0 { return bytes }
      bytes += chunk[..<count]
    }
  }

  /// Parses a file's content; an error names the file.
  static func parse<Value>(
    _ content: [UInt8], of path: String, _ body: ([UInt8]) throws -> Value
  ) throws -> Value {
    do {
      return try body(content)
    } catch let error as FormatError {
      throw FormatError(
        path: path + (error.path.isEmpty ? "" : ": \(error.path)"), found: error.found,
        expected: error.expected)
    }
  }

  /// Writes by a rename, so that no reader sees half a file.
  static func write(_ bytes: [UInt8], to path: String, mode: mode_t) throws(FileError) {
    let draft = try draft(bytes, for: path, mode: mode)
    guard unsafe rename(draft, path) == 0 else { throw FileError("rename", path) }
  }

  /// Creates a file at once with its whole content; leaves one that exists unchanged.
  static func create(_ bytes: [UInt8], at path: String, mode: mode_t) throws(FileError) {
    let draft = try draft(bytes, for: path, mode: mode)
    defer { unsafe unlink(draft) }
    guard unsafe link(draft, path) == 0 || errno == EEXIST else { throw FileError("link", path) }
  }

  private static func draft(
    _ bytes: [UInt8], for path: String, mode: mode_t
  ) throws(FileError) -> String {
    let draft = "\(path).\(getpid()).new"
    let file = unsafe open(draft, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode)
    guard file >= 0 else { throw FileError("open", draft) }
    let written = unsafe Glibc.write(file, bytes, bytes.count)
    close(file)
    guard written == bytes.count else { throw FileError("write", draft) }
    return draft
  }
}

/// Writes lines to standard error; standard output is reserved for the ready line.
enum Log {
  static func write(_ text: String) {
    let line = Array("apns-simulator: \(text)\n".utf8)
    _ = unsafe Glibc.write(STDERR_FILENO, line, line.count)
  }
}
