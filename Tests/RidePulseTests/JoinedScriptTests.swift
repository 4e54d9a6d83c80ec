import Testing

@testable import RidePulse

/// The scripts of pages that load nothing: several files of the folder `page`, joined into one module.
@Suite("Joined scripts") struct JoinedScriptTests {
  /// (page, its script, a name that its last file has)
  private static let scripts = [
    ("story", StoryPage.script, "switches"), ("ride", RidePage.script, "drawScreens"),
  ]

  /// Returns the names that a script has at its top level, where lines are not indented.
  private func names(_ script: String) -> [String] {
    script.split(separator: "\n").compactMap { line in
      line.firstMatch(of: /^(?:export )?(?:async )?(?:function\*?|class|const|let|var) ([\w$]+)/)
        .map { String($0.1) }
    }
  }

  @Test(arguments: scripts.indices)
  func `No name is declared twice, which would end the whole script`(index: Int) {
    let (page, script, last) = Self.scripts[index]
    let names = names(script)
    #expect(names.contains("drawPhone") && names.contains(last), "\(page): \(names)")
    let repeated = Dictionary(grouping: names) { $0 }.filter { $1.count > 1 }.keys.sorted()
    #expect(repeated == [], "\(page)")
  }

  @Test(arguments: scripts.indices)
  func `No part imports another, because the page loads nothing`(index: Int) {
    let (page, script, _) = Self.scripts[index]
    let imports = script.split(separator: "\n").filter { $0.hasPrefix("import ") }
    #expect(imports == [], "\(page)")
  }
}
