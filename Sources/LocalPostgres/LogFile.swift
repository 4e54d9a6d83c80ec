internal import Foundation

/// The log files of the programs of Postgres.
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

  /// Returns the last lines joined to one line, for an error message.
  static func tail(_ path: String) -> String {
    let text = (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
    return text.split(separator: "\n").suffix(5).joined(separator: " | ")
  }
}
