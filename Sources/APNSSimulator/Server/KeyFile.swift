import SimulatorKit

/// The file `keys.json` of the state directory, and the key files that it names.
final class KeyFile {
  /// Scopes and public keys, by key ID.
  struct Keys {
    let ring: KeyRing
    let verification: [String: SigningKey]
  }

  let file: WatchedFile
  private let state: StateDirectory
  private let team: String
  /// The content that was read last, whether or not it was correct.
  private var content: [UInt8]?

  /// - Parameter team: The team of keys whose entry names none.
  init(state: StateDirectory, team: String) throws(FileError) {
    file = try WatchedFile(path: state.keysPath)
    self.state = state
    self.team = team
  }

  var path: String { file.path }

  /// Reads all keys, and creates the key files that are missing.
  func read() throws -> Keys {
    content = try currentContent()
    let ring = try File.parse(content ?? Array("{}".utf8), of: path) {
      try KeyRing(text: $0, builtIn: state.keyID, team: team)
    }
    let keys = try ring.ids.map { ($0, try state.verificationKey($0)) }
    return Keys(ring: ring, verification: Dictionary(uniqueKeysWithValues: keys))
  }

  /// Returns nil if the file has not changed: the watch also reports the directory's other files.
  func readChanged() throws -> Keys? {
    try currentContent() == content ? nil : read()
  }

  private func currentContent() throws(FileError) -> [UInt8]? {
    File.exists(path) ? try File.read(path) : nil
  }
}
