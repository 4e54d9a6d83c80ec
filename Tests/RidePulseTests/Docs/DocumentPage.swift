import Foundation
import TestSupport

/// A page of the documentation, and the fenced blocks in it that a test runs.
///
/// A comment on the lines above a block names the stage in which its commands are run, and may have
/// commands that the page does not show, which are run before:
///
///     <!-- stage: service
///     psql -c "select …"
///     -->
///
/// `<!-- stage of each block: NAME -->` is for all further blocks without a comment of their own.
///
/// A block with `$ ` is a transcript: the output of each command is compared. A block whose first line
/// is a comment with a path, such as `# rules/a.yaml`, becomes this file. Any other block is run and must
/// succeed, as SQL if that is its language. A transcript that no test runs has a comment with the
/// reason: `<!-- not tested: … -->`.
struct DocumentPage {
  /// Relative to the project.
  let path: String
  private(set) var lines: [String]
  private(set) var blocks: [Block] = []

  /// A fenced block with the comment above it.
  struct Block {
    let comment: Comment?
    let language: String
    /// The lines between the fences; empty if a comment stands alone.
    let content: Range<Int>
  }

  enum Comment: Equatable {
    case stage(name: String, setUp: String)
    case notTested(reason: String)
  }

  init(path: String) throws {
    let text = try String(contentsOfFile: Project.path(path), encoding: .utf8)
    self.init(path: path, text: text)
  }

  init(path: String, text: String) {
    self.path = path
    lines = text.components(separatedBy: "\n")
    var (comment, ofEach): (Comment?, Comment?)
    var index = 0
    while index < lines.count {
      if let name = lines[index].firstMatch(of: /^<!-- stage of each block: (.+) -->$/)?.1 {
        ofEach = .stage(name: String(name), setUp: "")
      } else if let (found, end) = self.comment(from: index) {
        add(comment)
        comment = found
        index = end
      } else if lines[index].hasPrefix("```") {
        let first = index + 1
        let last = lines[first...].firstIndex { $0 == "```" } ?? lines.count
        let language = String(lines[index].dropFirst(3))
        blocks.append(Block(comment: comment ?? ofEach, language: language, content: first..<last))
        comment = nil
        index = last
      } else if !lines[index].isEmpty {
        add(comment)
        comment = nil
      }
      index += 1
    }
    add(comment)
  }

  /// Keeps the hidden commands of a comment without a block.
  private mutating func add(_ comment: Comment?) {
    if let comment { blocks.append(Block(comment: comment, language: "", content: 0..<0)) }
  }

  /// Returns the comment that begins on a line, and its last line.
  private func comment(from index: Int) -> (Comment, end: Int)? {
    for (start, isStage) in [("<!-- stage: ", true), ("<!-- not tested: ", false)]
    where lines[index].hasPrefix(start) {
      guard let end = lines[index...].firstIndex(where: { $0.hasSuffix("-->") }) else { return nil }
      var text = lines[index...end].joined(separator: "\n").dropFirst(start.count).dropLast(3)
      while text.last?.isWhitespace == true { text.removeLast() }
      guard isStage else { return (.notTested(reason: String(text)), end) }
      let parts = text.split(separator: "\n", maxSplits: 1).map(String.init)
      let stage = Comment.stage(name: parts.first ?? "", setUp: parts.dropFirst().first ?? "")
      return (stage, end)
    }
    return nil
  }

  func content(of block: Block) -> [String] { Array(lines[block.content]) }

  /// A prompt in a block: the shell's, or psql's.
  static func isCommand(_ line: String) -> Bool { line.hasPrefix("$ ") || line.hasPrefix("=> ") }

  func isTranscript(_ block: Block) -> Bool { content(of: block).contains(where: Self.isCommand) }

  /// The file that a block becomes.
  func file(of block: Block) -> String? {
    let path = content(of: block).first?.firstMatch(of: /^(?:#|\/\/) ([\w.\/-]+\.\w+)$/)?.1
    return path.map(String.init)
  }

  /// The names of the page's stages, in the order of their first blocks.
  var stages: [String] {
    var names: [String] = []
    for case .stage(let name, _)? in blocks.map(\.comment) where !names.contains(name) {
      names.append(name)
    }
    return names
  }

  /// Returns the page's text with other lines in some of its blocks.
  func text(replacing contents: [Range<Int>: [String]]) -> String {
    var lines = lines
    for (range, content) in contents.sorted(by: { $0.key.lowerBound > $1.key.lowerBound }) {
      lines.replaceSubrange(range, with: content)
    }
    return lines.joined(separator: "\n")
  }
}
