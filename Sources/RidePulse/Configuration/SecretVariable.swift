import SystemSupport

/// A secret of the environment: the value of a variable, or of the file that `<NAME>_FILE` names.
struct SecretVariable {
  /// The variable that is set, for messages.
  let name: String
  let text: String

  static let fileEnding = "_FILE"
  /// The maximum size of the file, in bytes.
  private static let limit = 4096

  /// Reads the variable, or the file without the line break at its end; nil if neither is set.
  ///
  /// - Parameter prefixes: The beginnings by which such a secret is recognised in the place of a path.
  /// - Throws: `CommandFailure` that names variable and file, and no part of the secret.
  init?(
    _ name: String, in environment: [String: String], prefixes: [String] = []
  ) throws(CommandFailure) {
    let fileName = name + Self.fileEnding
    let value = environment.nonEmpty(name)
    guard let path = environment.nonEmpty(fileName) else {
      guard let value else { return nil }
      (self.name, text) = (name, value)
      return
    }
    if value != nil { throw CommandFailure("\(name) and \(fileName) are both set: unset one") }
    // What is no path may be the secret itself.
    let isPath = ["/", "./", "../"].contains { path.hasPrefix($0) } && !path.contains("=")
    if prefixes.contains(where: { path.hasPrefix($0) }) {
      throw CommandFailure("\(fileName) contains the secret itself; expected the path of its file")
    }
    let bytes: [UInt8]
    do throws(RegularFile.Failure) {
      bytes = try RegularFile.read(path, limit: Self.limit)
    } catch {
      guard isPath else {
        throw CommandFailure("\(fileName): expected the path of a file that can be read: \(error)")
      }
      throw CommandFailure("\(fileName): can't read \(path): \(error)")
    }
    var text = String(decoding: bytes, as: UTF8.self)
    if text.last?.isNewline ?? false { text.removeLast() }
    // Without the check an empty file would mean what an unset variable does.
    if text.isEmpty { throw CommandFailure("\(fileName): \(path) is empty") }
    (self.name, self.text) = (fileName, text)
  }
}
