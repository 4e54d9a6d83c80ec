package import Foundation

/// An empty directory for one test.
package enum ScratchFolder {
  /// Creates a directory whose name no other test uses; the caller removes it.
  package static func create(_ name: String = "test") throws -> String {
    let path = "/tmp/ridepulse-\(name)-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    return path
  }

  package static func remove(_ path: String) {
    try? FileManager.default.removeItem(atPath: path)
  }

  /// Runs `body` with a new directory and removes it afterwards.
  package static func with<Value>(_ body: (String) throws -> Value) throws -> Value {
    let path = try create()
    defer { remove(path) }
    return try body(path)
  }
}

/// A file that is deleted with its owner.
package final class ScratchFile: Sendable {
  package let url: URL

  package init(_ content: Data = Data()) throws {
    url = URL(fileURLWithPath: "/tmp/ridepulse-file-\(UUID().uuidString)")
    try content.write(to: url)
  }

  deinit {
    try? FileManager.default.removeItem(at: url)
  }
}
