import CVersion

/// The version that `ridepulse --version` prints, and that ledger, metrics, images and package have.
enum Version {
  static let number = "0.1.0"

  /// The number, and of a release build the commit: `0.1.0+g30331ba`.
  static let text = text(commit: commit)

  static func text(commit: String) -> String { commit.isEmpty ? number : "\(number)+\(commit)" }

  /// What `--version` prints.
  static func line(commit: String = commit) -> String {
    let note = commit == unknown ? " (built without git: the commit is unknown)" : ""
    return "ridepulse \(text(commit: commit))\(note)"
  }

  /// What `scripts/commit` prints for sources without git.
  private static let unknown = "unknown"

  /// Empty in a debug build.
  private static let commit = String(
    decoding: (0..<UInt32(64)).map { ridepulse_commit($0) }.prefix { $0 != 0 }, as: UTF8.self)
}
