internal import Glibc
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
    let listing = RuleListing(of: directory)
    return RuleLoader(unread: listing.problems).load(listing.files, strings: listing.strings)
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

/// The rule files of a directory, and the problems found before any of them is parsed.
struct RuleListing {
  private(set) var files: [(name: String, bytes: [UInt8])] = []
  private(set) var strings: [(name: String, bytes: [UInt8])] = []
  private(set) var problems: [RuleProblem] = []

  init(of directory: String) {
    var path = directory
    while path.count > 1, path.hasSuffix("/") { path.removeLast() }
    do {
      let names = try Disk.names(in: path).sorted()
      for name in names { if let file = read(name, in: path) { files.append(file) } }
      if names.contains("strings") { readStrings(in: path + (path == "/" ? "" : "/") + "strings") }
    } catch {
      problems.append(
        RuleProblem(
          file: path, location: nil, found: "the rule directory can't be read: \(error.text)",
          expected: "a directory with *.yaml files"))
      return
    }
    guard files.isEmpty, problems.isEmpty else { return }
    problems.append(
      RuleProblem(
        file: path, location: nil, found: "no rule file in the directory",
        expected: "at least one *.yaml whose name does not start with \"_\""))
  }

  private mutating func readStrings(in directory: String) {
    do {
      for name in try Disk.names(in: directory).sorted() {
        if let file = read(name, in: directory) { strings.append(file) }
      }
    } catch {
      if error.code == ENOTDIR { return }
      problems.append(
        RuleProblem(
          file: directory, location: nil, found: "the strings can't be read: \(error.text)",
          expected: "a folder with files such as en.yaml"))
    }
  }

  private mutating func read(
    _ name: String, in directory: String
  ) -> (name: String, bytes: [UInt8])? {
    guard !name.hasPrefix("_"), !name.hasPrefix("."), !name.hasSuffix(RuleTestFile.suffix) else {
      return nil
    }
    let path = directory.hasSuffix("/") ? directory + name : "\(directory)/\(name)"
    guard name.hasSuffix(".yaml") else {
      let lowercased = name.lowercased()
      guard let ending = [".yml", ".yaml"].first(where: lowercased.hasSuffix) else { return nil }
      problems.append(
        RuleProblem(
          file: path, location: nil, found: "a file name that ends in \(name.suffix(ending.count))",
          expected: "the name \(quoted(name.dropLast(ending.count) + ".yaml"))"))
      return nil
    }
    switch RuleDirectory.file(path) {
    case .success(let bytes): return (path, bytes)
    case .failure(let problem):
      problems.append(problem)
      return nil
    }
  }
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

/// Reads directories, keeping the system's message if a call fails.
private enum Disk {
  /// The message of a failed system call.
  struct Failure: Error {
    let code: CInt
    let text: String

    init(_ code: CInt) {
      self.code = code
      text = SystemError.text(code)
    }
  }

  /// Returns the names in a directory, in no particular order.
  static func names(in directory: String) throws(Failure) -> [String] {
    guard let stream = unsafe opendir(directory) else { throw Failure(errno) }
    defer { unsafe _ = closedir(stream) }
    var names: [String] = []
    while true {
      errno = 0
      guard let entry = unsafe readdir(stream) else { break }
      let name = unsafe withUnsafeBytes(of: entry.pointee.d_name) { unsafe Array($0) }
      names.append(String(decoding: name.prefix { $0 != 0 }, as: UTF8.self))
    }
    guard errno == 0 else { throw Failure(errno) }
    return names
  }
}
