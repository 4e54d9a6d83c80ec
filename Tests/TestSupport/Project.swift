package import Foundation

/// The directory that contains `Package.swift`.
package enum Project {
  package static let root = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  /// Returns the absolute path of a file or directory of the project.
  package static func path(_ relative: String) -> String {
    root.appendingPathComponent(relative).path
  }
}
