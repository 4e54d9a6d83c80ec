internal import Glibc
internal import SystemSupport

/// The rule files of a directory as bytes, and the problems found while they were read.
///
/// It is all that `load` depends on, so that rules can be loaded where their directory is not.
package struct RuleSource: Sendable {
  /// The directory's path, with which the names of its files begin.
  package let directory: String
  package private(set) var files: [(name: String, bytes: [UInt8])] = []
  package private(set) var strings: [(name: String, bytes: [UInt8])] = []
  private(set) var problems: [RuleProblem] = []

  private static let stringsFolder = "strings/"

  /// Reads every `*.yaml` file of a directory and of its folder `strings`; names that start with `_`
  /// or `.`, and tests, are skipped.
  package init(of directory: String) {
    var path = directory
    while path.count > 1, path.hasSuffix("/") { path.removeLast() }
    self.directory = path
    do {
      let names = try Disk.names(in: path).sorted()
      for name in names { if let file = read(name, in: path) { files.append(file) } }
      if names.contains("strings") { readStrings(in: Self.path("strings", in: path)) }
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

  /// Creates the files of a directory from those that were stored, by their names below it.
  package init(stored: [StoredFile], of directory: String) {
    self.directory = directory
    for file in stored.sorted(by: { $0.name < $1.name }) {
      let named = (name: Self.path(file.name, in: directory), bytes: Array(file.text.utf8))
      if file.name.hasPrefix(Self.stringsFolder) {
        strings.append(named)
      } else {
        files.append(named)
      }
    }
  }

  /// A file by its name below the directory, such as `a.yaml` or `strings/en.yaml`.
  package struct StoredFile: Hashable, Sendable {
    package var name: String
    package var text: String

    package init(name: String, text: String) {
      (self.name, self.text) = (name, text)
    }
  }

  /// The files by their names below the directory. Files that can be loaded are UTF-8.
  package var stored: [StoredFile] {
    func all(_ files: [(name: String, bytes: [UInt8])], in folder: String) -> [StoredFile] {
      files.map {
        StoredFile(
          name: folder + Self.name(of: $0.name), text: String(decoding: $0.bytes, as: UTF8.self))
      }
    }
    return all(files, in: "") + all(strings, in: Self.stringsFolder)
  }

  /// The size of all files, in bytes.
  package var size: Int { (files + strings).reduce(0) { $0 + $1.bytes.count } }

  /// Loads the rules, and checks them as a whole.
  ///
  /// One run finds all problems of all files; if there is any problem, no rule set is returned.
  package func load() -> Result<LoadedRules, RuleProblems> {
    RuleLoader(unread: problems).load(files, strings: strings)
  }

  private static func path(_ name: String, in directory: String) -> String {
    directory.hasSuffix("/") ? directory + name : "\(directory)/\(name)"
  }

  private static func name(of path: String) -> String {
    path.split(separator: "/").last.map(String.init) ?? path
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
    let path = Self.path(name, in: directory)
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
