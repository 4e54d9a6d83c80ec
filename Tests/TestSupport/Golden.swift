import Foundation

/// Files that contain the expected output of a test.
///
/// With `RECORD_GOLDEN=1` a test rewrites its golden file; read the diff before you commit it.
package enum Golden {
  package static let isRecording =
    ProcessInfo.processInfo.environment["RECORD_GOLDEN"] == "1"

  /// Compares a text with a golden file, or rewrites the file; returns nil if they are equal.
  package static func difference(of text: String, from file: String) throws -> String? {
    if isRecording { try text.write(toFile: file, atomically: true, encoding: .utf8) }
    let expected = (try? String(contentsOfFile: file, encoding: .utf8)) ?? "there is no \(file)"
    if text == expected { return nil }
    let (actualLines, lines) = (text.split(separator: "\n"), expected.split(separator: "\n"))
    let changes = actualLines.difference(from: lines).map { change in
      switch change {
      case .insert(_, let line, _): "+\(line)"
      case .remove(_, let line, _): "-\(line)"
      }
    }
    return "\(file) (RECORD_GOLDEN=1 rewrites it):\n\(changes.joined(separator: "\n"))"
  }
}
