import Foundation

/// The names that docs/compatibility.md promises, in a file for each kind.
///
/// With `RECORD_GOLDEN=1` new names are added to the file. A recorded one is never taken out by a
/// program: whoever withdraws a name follows docs/compatibility.md and deletes its line.
package enum PromisedNames {
  /// Compares the names of this build with the recorded ones.
  ///
  /// - Parameters:
  ///   - names: One line each, in any order.
  ///   - kind: The name of the file in Tests/Compatibility, without `.txt`.
  /// - Throws: `TestFailure` with the lines that are gone, or new.
  package static func compare(_ names: [String], with kind: String) throws {
    let file = Project.path("Tests/Compatibility/\(kind).txt")
    let recorded = Set(
      ((try? String(contentsOfFile: file, encoding: .utf8)) ?? "").split(separator: "\n")
        .map(String.init))
    let (missing, added) = (recorded.subtracting(names).sorted(), Set(names).subtracting(recorded))
    if Golden.isRecording, !added.isEmpty {
      let lines = recorded.union(added).sorted().map { $0 + "\n" }
      try lines.joined().write(toFile: file, atomically: true, encoding: .utf8)
    }
    if !missing.isEmpty {
      throw TestFailure(
        """
        \(kind): these are promised and gone; docs/compatibility.md says how a name is withdrawn
        \(missing.joined(separator: "\n"))
        """)
    }
    if added.isEmpty || Golden.isRecording { return }
    throw TestFailure(
      """
      \(kind): these are new, and promised once they are released (docs/compatibility.md); read each name \
      once more, then RECORD_GOLDEN=1 adds it to \(file)
      \(added.sorted().joined(separator: "\n"))
      """)
  }
}
