import Foundation
import TestSupport
import Testing

/// README.md and the pages of docs/: what they show of commands is what the commands print.
///
/// With `RECORD_GOLDEN=1` outputs that differ are written anew; read the diff before you commit it.
@Suite("Pages", .timeLimit(.minutes(60))) struct DocumentTests {
  static let paths: [String] = {
    let pages =
      FileManager.default.enumerator(atPath: Project.path("docs"))?
      .compactMap { $0 as? String } ?? []
    return ["README.md"]
      + pages.filter { $0.hasSuffix(".md") && !$0.hasPrefix("decisions/") }.sorted()
      .map { "docs/" + $0 }
  }()

  @Test(arguments: paths) func `What a page shows of commands is what they print`(path: String)
    async throws
  {
    let page = try DocumentPage(path: path)
    var recorded: [Range<Int>: [String]] = [:]
    for name in page.stages {
      recorded.merge(try await Self.differences(of: page, stage: name)) { $1 }
    }
    if Golden.isRecording, !recorded.isEmpty {
      try page.text(replacing: recorded)
        .write(toFile: Project.path(path), atomically: true, encoding: .utf8)
    }
  }

  @Test(arguments: paths) func `Each transcript names its stage, or why no test runs it`(
    path: String
  ) throws {
    let page = try DocumentPage(path: path)
    for block in page.blocks where page.isTranscript(block) {
      let line = block.content.lowerBound
      #expect(block.comment != nil, "\(path):\(line): neither a stage nor a reason")
      if case .notTested(let reason)? = block.comment {
        #expect(reason.count > 10, "\(path):\(line)")
      }
    }
  }

  /// Runs a stage of a page; returns the blocks whose outputs differ, as they should be.
  private static func differences(of page: DocumentPage, stage name: String) async throws
    -> [Range<Int>: [String]]
  {
    let word = name.split(separator: " ").first.map(String.init) ?? ""
    let kind = try #require(DocumentStage.Kind(rawValue: word), "\(page.path): no stage \(name)")
    let script = PageScript(page, stage: name)
    var recorded: [Range<Int>: [String]] = [:]
    try await DocumentStage.run(kind) { stage in
      let results = try await stage.run(script.steps)
      recorded = script.judge(results, varies: kind != .files)
    }
    return recorded
  }
}
