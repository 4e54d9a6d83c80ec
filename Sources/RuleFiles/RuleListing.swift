internal import SystemSupport

/// The rule files of a directory, and the problems found before any of them is parsed.
struct RuleListing {
  private(set) var files: [(name: String, bytes: [UInt8])] = []
  private(set) var problems: [RuleProblem] = []

  init(of directory: String) {
    var path = directory
    while path.count > 1, path.hasSuffix("/") { path.removeLast() }
    do {
      for name in try Disk.names(in: path).sorted() { add(name, in: path) }
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

  private mutating func add(_ name: String, in directory: String) {
    guard !name.hasPrefix("_"), !name.hasPrefix(".") else { return }
    let path = directory.hasSuffix("/") ? directory + name : "\(directory)/\(name)"
    guard name.hasSuffix(".yaml") else {
      let lowercased = name.lowercased()
      guard let ending = [".yml", ".yaml"].first(where: lowercased.hasSuffix) else { return }
      problems.append(
        RuleProblem(
          file: path, location: nil, found: "a file name that ends in \(name.suffix(ending.count))",
          expected: "the name \(quoted(name.dropLast(ending.count) + ".yaml"))"))
      return
    }
    do {
      // One byte more than allowed, so that an oversized file is detected.
      let bytes = try RegularFile.start(of: path, limit: RuleDirectory.fileSizeLimit + 1)
      files.append((path, bytes))
    } catch {
      problems.append(
        RuleProblem(
          file: path, location: nil, found: "the file can't be read: \(error)",
          expected: "a readable file"))
    }
  }
}
