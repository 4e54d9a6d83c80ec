package import RideCore

/// The rule files of one directory, read and checked as a whole.
package enum RuleDirectory {
  /// The most bytes that a rule file may have.
  package static let fileSizeLimit = 1 << 20

  /// Reads every `*.yaml` of a directory; a name that starts with `_` or `.` is skipped.
  ///
  /// All problems of all files are found in one run; with a single one there is no rule set.
  package static func load(_ directory: String) -> Result<LoadedRules, RuleProblems> {
    let listing = RuleListing(of: directory)
    return RuleLoader(unread: listing.problems).load(listing.files)
  }

  /// Reads rule files that are already in memory, as `load` does; no file is no problem here.
  package static func parse(
    files: [(name: String, bytes: [UInt8])]
  ) -> Result<LoadedRules, RuleProblems> {
    RuleLoader(unread: []).load(files)
  }
}

/// Rule files without a problem.
package struct LoadedRules: Sendable {
  /// What they say.
  package let ruleSet: RuleSet
  /// How many files were read.
  package let fileCount: Int
  /// How many rules they hold.
  package var ruleCount: Int { ruleSet.rules.count }
}
