import Base
import Foundation
import LocalStack
import RideCore
import Testing
import TestSupport

/// `ridepulse preview --story`: the table, JSON, the page, and mistakes.
@Suite("The preview of a story") struct StoryPreviewTests {
  private static let golden = Project.path("Tests/RidePulseTests/Golden")
  private static let rules = ["--schedules", golden + "/story-rules"]
  private static let story = ["preview", "--story", golden + "/story.yaml"]

  private func expect(_ words: [String], is name: String) throws {
    let result = try Command.ridepulse(Self.story + Self.rules + words)
    #expect(result.status == 0, "\(result.errors)")
    #expect(try Golden.difference(of: result.output, from: Self.golden + "/" + name) == nil)
  }

  @Test func `The table`() throws { try expect([], is: "story.table") }

  @Test func `JSON lines`() throws { try expect(["--format", "json"], is: "story.jsonl") }

  @Test func `A list of states needs no file, no database and no configuration`() throws {
    let result = try Command.ridepulse(
      ["preview", "--story", "requested,driver_arrived@10m", "--from", "2026-11-21T08:00:00Z"]
        + Self.rules)
    #expect(result.status == 0, "\(result.errors)")
    #expect(result.output.contains("08:10:00  driver_arrived"))
    #expect(result.output.contains("en   Your driver is here"))
  }

  /// Arguments after `preview`, exit status, and a part of the error message.
  private static let mistakes: [([String], Int32, String)] = [
    (["--story", "requested,driver_arived"], 64, "did you mean driver_arrived?"),
    (["--story", "/nope.yaml"], 1, "/nope.yaml: the file can't be read"),
    (["--story", "requested", "--rides", "x"], 64, "--rides next to --story"),
    (["--story", "requested", "--diff", "x"], 64, "--diff next to --story"),
    (
      ["--story", golden + "/story.yaml", "--from", "2026-11-21T09:00:00Z"], 64,
      "--from next to a story that states its start"
    ),
  ]

  @Test(arguments: mistakes.indices) func `A mistake gets one message`(index: Int) throws {
    let (words, status, message) = Self.mistakes[index]
    let result = try Command.ridepulse(["preview"] + words + Self.rules)
    #expect(result.status == status && result.output.isEmpty, "\(result.errors)")
    #expect(result.errors.contains(message), "\(result.errors)")
  }

  /// The stories of `docs/shipped-rules.md`.
  private static let shipped = [
    "normal", "reservation-evening", "no-driver", "driver-cancels", "no-show", "customer-cancels",
    "long-stop",
  ]

  @Test(arguments: shipped)
  func `U11: docs/shipped-rules.md has the alerts that its command prints`(name: String) throws {
    let page = try String(contentsOfFile: Project.path("docs/shipped-rules.md"), encoding: .utf8)
    let start = try #require(page.range(of: "<!-- story: \(name) -->\n"))
    let table = page[start.upperBound...].components(separatedBy: "<!-- end -->")[0]
    // Without the column of a customer whose app started a card.
    let documented = table.split(separator: "\n").dropFirst(2).flatMap { line in
      let cells = line.components(separatedBy: " | ")
      return cells.indices.filter { $0 == 2 || $0 == 4 }.flatMap { index in
        cells[index].matches(of: /\*\*(.+?)\*\*( [^(<|]+)?/).map { match in
          "\(match.1)\(match.2 ?? "")".trimmingCharacters(in: .whitespaces)
        }
      }
    }
    let printed = try Command.ridepulse([
      "preview", "--story", Project.path("docs/stories/\(name).yaml"), "--format", "json",
      "--schedules", Project.path("schedules"),
    ])
    #expect(printed.status == 0, "\(printed.errors)")
    let shown = printed.output.split(separator: "\n").flatMap { line -> [String] in
      guard let row = JSONValue(json: line.utf8), case .array(let texts)? = row.value(at: ["texts"])
      else { return [] }
      return texts.compactMap { text in
        guard case .array(let languages)? = text.value(at: ["languages"]),
          languages.contains(.string("en")), case .string(let title)? = text.value(at: ["title"])
        else { return nil }
        guard case .string(let body)? = text.value(at: ["body"]) else { return title }
        return "\(title) \(body)"
      }
    }
    #expect(!shown.isEmpty && documented.sorted() == shown.sorted())
  }

  @Test func `The page has each language, right to left too, and no script`() throws {
    let result = try Command.ridepulse(Self.story + Self.rules + ["--format", "html"])
    let html = result.output
    #expect(html.contains("lang=\"ar\" dir=\"rtl\"") && html.contains("lang=\"en\" dir=\"ltr\""))
    #expect(html.contains("Not seen: wakes the app.") && html.contains("covered by the card"))
    #expect(!html.contains("<script") && html.firstMatch(of: /https?:/) == nil)
    // The plate of the story is markup.
    #expect(html.contains("&lt;b&gt;1001") && !html.contains("<b>1001"))
  }
}
