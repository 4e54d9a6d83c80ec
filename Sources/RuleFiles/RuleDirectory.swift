package import RideCore

/// Loads the rule files of one directory, and checks them as a whole.
package enum RuleDirectory {
  /// The maximum size of a rule file, in bytes.
  package static let fileSizeLimit = 1 << 20

  /// Reads every `*.yaml` file of a directory; names that start with `_` or `.` are skipped.
  ///
  /// One run finds all problems of all files; if there is any problem, no rule set is returned.
  package static func load(_ directory: String) -> Result<LoadedRules, RuleProblems> {
    let listing = RuleListing(of: directory)
    return RuleLoader(unread: listing.problems).load(listing.files)
  }

  /// Reads rule files that are already in memory, as `load` does; having no files is not a problem
  /// here.
  package static func parse(
    files: [(name: String, bytes: [UInt8])]
  ) -> Result<LoadedRules, RuleProblems> {
    RuleLoader(unread: []).load(files)
  }
}

/// Rule files without problems.
package struct LoadedRules: Sendable {
  package let ruleSet: RuleSet
  /// The number of files that were read.
  package let fileCount: Int
  /// The number of rules in all files.
  package var ruleCount: Int { ruleSet.rules.count }
}
