internal import Foundation

/// Where the programs of Postgres write what they have to say.
enum LogFile {
  static func open(_ path: String) throws(LocalPostgresError) -> FileHandle {
    if !FileManager.default.fileExists(atPath: path) {
      _ = FileManager.default.createFile(atPath: path, contents: nil)
    }
    guard let handle = FileHandle(forWritingAtPath: path) else {
      throw .directory(reason: "\(path) cannot be written")
    }
    _ = try? handle.seekToEnd()
    return handle
  }

  /// The last lines on one line, for an error.
  static func tail(_ path: String) -> String {
    let text = (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
    return text.split(separator: "\n").suffix(5).joined(separator: " | ")
  }
}
