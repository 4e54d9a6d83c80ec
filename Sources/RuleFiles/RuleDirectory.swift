package import RideCore
internal import SystemSupport

/// Loads the rule files of one directory, and checks them as a whole.
package enum RuleDirectory {
  /// The maximum size of a rule file, in bytes.
  package static let fileSizeLimit = 1 << 20

  /// Reads every `*.yaml` file of a directory and of its folder `strings`; names that start with `_`
  /// or `.`, and tests, are skipped.
  ///
  /// One run finds all problems of all files; if there is any problem, no rule set is returned.
  package static func load(_ directory: String) -> Result<LoadedRules, RuleProblems> {
    RuleSource(of: directory).load()
  }

  /// Reads rule files that are already in memory, as `load` does; having no files is not a problem
  /// here.
  package static func parse(
    files: [(name: String, bytes: [UInt8])], strings: [(name: String, bytes: [UInt8])] = []
  ) -> Result<LoadedRules, RuleProblems> {
    RuleLoader(unread: []).load(files, strings: strings)
  }
}

/// Rule files without problems.
package struct LoadedRules: Sendable {
  package let ruleSet: RuleSet
  /// The contract of each rule with a card, in the order of the rules.
  package let contracts: [RuleContract]
  /// The number of files that were read.
  package let fileCount: Int
  /// The file that declares the states; nil if the default ones apply.
  package let statesFile: String?
  /// The first file that declares events; nil if none does.
  package let eventsFile: String?
  /// The number of rules in all files.
  package var ruleCount: Int { ruleSet.rules.count }
  /// The texts that some languages lack, in the order of the files.
  let translationLints: [RuleLint]
  /// The keys of the app's own strings that rules name.
  let keyUses: [TextCatalog.KeyUse]
  let locations: RuleLocations
}

extension RuleDirectory {
  /// Returns the bytes of a file: one more than allowed, so that an oversized file is detected.
  static func file(_ path: String) -> Result<[UInt8], RuleProblem> {
    do {
      return .success(try RegularFile.start(of: path, limit: fileSizeLimit + 1))
    } catch {
      return .failure(
        RuleProblem(
          file: path, location: nil, found: "the file can't be read: \(error)",
          expected: "a readable file"))
    }
  }
}
