public import RideCore

/// The rule files of one directory, read and checked as a whole.
public enum RuleDirectory {
  /// The most bytes that a rule file may have.
  public static let fileSizeLimit = 1 << 20

  /// Reads every `*.yaml` of a directory; a name that starts with `_` or `.` is skipped.
  ///
  /// All problems of all files are found in one run; with a single one there is no rule set.
  public static func load(_ directory: String) -> Result<LoadedRules, RuleProblems> {
    let listing = RuleListing(of: directory)
    return RuleLoader(unread: listing.problems).load(listing.files)
  }

  /// Reads rule files that are already in memory, as `load` does; no file is no problem here.
  public static func parse(
    files: [(name: String, bytes: [UInt8])]
  ) -> Result<LoadedRules, RuleProblems> {
    RuleLoader(unread: []).load(files)
  }
}

/// Rule files without a problem.
public struct LoadedRules: Sendable {
  /// What they say.
  public let ruleSet: RuleSet
  /// How many files were read.
  public let fileCount: Int
  /// How many rules they hold.
  public var ruleCount: Int { ruleSet.rules.count }
}
