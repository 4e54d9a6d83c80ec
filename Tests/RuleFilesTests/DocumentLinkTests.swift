import Foundation
import TestSupport
import Testing

/// The documentation's links lead somewhere: those of its pages, and the pages that sources name.
@Suite("Links of the documentation") struct DocumentLinkTests {
  private static func files(in folder: String, _ endings: [String]) -> [String] {
    let found = FileManager.default.enumerator(atPath: Project.path(folder))
    return (found?.compactMap { $0 as? String } ?? []).sorted()
      .filter { path in endings.contains { path.hasSuffix($0) } }
      .map { "\(folder)/\($0)" }
  }

  private static let pages =
    ["README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md"] + files(in: "docs", [".md"])
    + ["Tests/android.md", "Tests/attacks.md", "Tests/plans.md", "Tests/requirements.md"]

  private static func text(_ path: String) throws -> String {
    try String(contentsOfFile: Project.path(path), encoding: .utf8)
  }

  @Test func `Each relative link leads to a file, and to a heading in it`() throws {
    var anchors: [String: Set<String>] = [:]
    for page in Self.pages {
      for link in Self.links(in: try Self.text(page)) {
        let parts = link.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
        let path = parts[0].isEmpty ? page : Self.resolve(String(parts[0]), from: page)
        guard FileManager.default.fileExists(atPath: Project.path(path)) else {
          Issue.record("\(page): there is no \(path)")
          continue
        }
        guard parts.count == 2, path.hasSuffix(".md") else { continue }
        let known = try anchors[path] ?? Self.anchors(of: try Self.text(path))
        anchors[path] = known
        #expect(known.contains(String(parts[1])), "\(page): \(path) has no heading #\(parts[1])")
      }
    }
  }

  @Test func `Each page that sources, rules and scripts name exists`() throws {
    let files =
      Self.files(in: "Sources", [".swift", ".c", ".yaml"])
      + Self.files(in: "Tests", [".swift", ".py"])
      + Self.files(in: "schedules", [".yaml", ".lock"]) + Self.files(in: "scripts", [""])
      + Self.files(in: "deploy", [".yaml", ".json"]) + ["Makefile"]
    for file in files {
      guard let text = try? Self.text(file) else { continue }
      for match in text.matches(of: /\bdocs\/[\w.\/-]+\.(?:md|yaml|swift|png)\b/) {
        #expect(
          FileManager.default.fileExists(atPath: Project.path(String(match.output))),
          "\(file) names \(match.output)")
      }
    }
  }

  @Test func `The index leads to each page`() throws {
    let index = Set(
      Self.links(in: try Self.text("docs/README.md")).map { String($0.prefix { $0 != "#" }) })
    for page in Self.files(in: "docs", [".md"]) where page != "docs/README.md" {
      let name = String(page.dropFirst("docs/".count))
      guard !name.hasPrefix("decisions/") || name == "decisions/README.md" else { continue }
      #expect(index.contains(name), "docs/README.md does not lead to \(name)")
    }
  }

  @Test func `Each screenshot is on a page`() throws {
    let shown = try Set(
      Self.pages.flatMap { page in
        Self.links(in: try Self.text(page)).map { Self.resolve($0, from: page) }
      })
    let taken = Self.files(in: "docs/screenshots", [".png"])
    #expect(!taken.isEmpty && taken.filter { !shown.contains($0) } == [])
  }

  /// The targets of a page's links and pictures, without those to other servers; not in code.
  private static func links(in text: String) -> [String] {
    let prose = text.replacing(/(?m)^```[\s\S]*?^```$/, with: "").replacing(/`[^`\n]*`/, with: "")
    return prose.matches(of: /\]\(([^)\s]+)\)/).map { String($0.1) }
      .filter { !$0.contains("://") && !$0.hasPrefix("mailto:") }
  }

  private static func resolve(_ link: String, from page: String) -> String {
    let folder = URL(fileURLWithPath: "/" + page).deletingLastPathComponent()
    return String(folder.appendingPathComponent(link).standardized.path.dropFirst())
  }

  /// The anchors that GitHub gives to the headings of a page, and those that it states itself.
  private static func anchors(of text: String) -> Set<String> {
    let prose = text.replacing(/(?m)^```[\s\S]*?^```$/, with: "")
    var anchors = Set(prose.matches(of: /<a id="([^"]+)">/).map { String($0.1) })
    for match in prose.matches(of: /(?m)^#{1,6} (.+)$/) {
      let heading = match.1.replacing(/\[([^\]]*)\]\([^)]*\)/) { $0.1 }
      let name = heading.lowercased().compactMap { character -> Character? in
        if character == " " { return "-" }
        return character.isLetter || character.isNumber || "-_".contains(character)
          ? character : nil
      }
      var (anchor, number) = (String(name), 0)
      while !anchors.insert(anchor).inserted {
        number += 1
        anchor = "\(String(name))-\(number)"
      }
    }
    return anchors
  }
}
