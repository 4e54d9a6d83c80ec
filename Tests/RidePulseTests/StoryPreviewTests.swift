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

  private func page(_ words: [String] = []) throws -> (html: String, errors: String) {
    let result = try Command.ridepulse(Self.story + Self.rules + ["--format", "html"] + words)
    #expect(result.status == 0, "\(result.errors)")
    return (result.output, result.errors)
  }

  /// Returns the JSON that a page draws.
  private func data(_ html: String) throws -> JSONValue {
    let start = try #require(html.range(of: "<script id=\"data\" type=\"application/json\">"))
    let end = try #require(html[start.upperBound...].range(of: "</script>"))
    return try #require(JSONValue(json: html[start.upperBound..<end.lowerBound].utf8))
  }

  private func list(_ value: JSONValue?) throws -> [JSONValue] {
    guard case .array(let elements)? = value else { throw Missing() }
    return elements
  }

  private struct Missing: Error {}

  @Test func `The page needs no network, and lists the pushes without scripts, too`() throws {
    let html = try page().html
    #expect(html.contains("default-src 'none'") && !html.contains("img-src"))
    #expect(!html.contains("<link") && !html.contains(" src=") && !html.contains("@import"))
    let plain = try #require(html.range(of: "<noscript>"))
    #expect(html[plain.upperBound...].contains("Your driver is here"))
    #expect(html.contains("covered by the card"))
    // The plate of the story is markup.
    #expect(html.contains("&lt;b&gt;1001") && !html.contains("<b>1001"))
  }

  @Test func `The page has each variant, and states each screen once`() throws {
    let data = try data(page().html)
    let variants = try list(data["variants"])
    func values(_ key: String) -> Set<JSONValue> { Set(variants.compactMap { $0[key] }) }
    #expect(values("language").count == 2)
    #expect(values("cards") == [.bool(true), .bool(false)])
    #expect(values("night") == [.bool(true), .bool(false)])
    #expect(values("hole").contains(.null) && values("hole").count > 1)
    #expect(Set(variants).count == variants.count)
    let screens = try list(data["screens"])
    #expect(Set(screens).count == screens.count)
    // A language adds its texts, and no screens: each variant of one is a variant of the other.
    let tracks = variants.filter { $0["language"] == .integer(0) }.map { $0["track"] }
    #expect(tracks == variants.filter { $0["language"] == .integer(1) }.map { $0["track"] })
  }

  @Test func `A time in which nothing is sent says why, and takes no step of its own`() throws {
    let result = try Command.ridepulse(
      [
        "preview", "--story", "requested,driver_arrived@10m,ride_completed@30m", "--format", "html",
        "--from", "2026-11-21T08:00:00Z",
      ] + Self.rules)
    #expect(result.status == 0, "\(result.errors)")
    let data = try data(result.output)
    let lines = try list(data["quiets"]).flatMap { try list($0["lines"]) }
    func has(_ text: String) -> Bool {
      lines.contains { if case .string(let line) = $0 { line.contains(text) } else { false } }
    }
    #expect(has("requested since 08:00:00"), "\(lines)")
    #expect(has("customer: arrived, card fire on driver_arrived, once, at 08:10:00"), "\(lines)")
    #expect(has("driver: no rule fires on"), "\(lines)")
    // Each step sends, keeps back or shows something.
    let moments = try list(data["moments"])
    #expect(moments.contains { $0["quiet"] != .null })
  }

  @Test func `The page has conditions, and times of the ride's zone alone`() throws {
    let result = try Command.ridepulse([
      "preview", "--story", Project.path("docs/stories/normal.yaml"), "--format", "html",
      "--schedules", Project.path("schedules"),
    ])
    let rows = try list(data(result.output)["rows"])
    let notes = try rows.flatMap { try list($0["notes"]) }
    #expect(
      notes.contains(
        .string("if: has(ride.attributes.pin) && !(ride.attributes.pin in [null, ''])")),
      "\(notes)")
    let heads = rows.compactMap { if case .string(let head)? = $0["head"] { head } else { nil } }
    #expect(!heads.isEmpty && !heads.contains { $0.contains("Z") }, "\(heads)")
  }

  @Test func `What a hole in the network takes is on the page, with the reason`() throws {
    let data = try data(page().html)
    let lost = try list(list(data["parts"]).first).filter { $0["reason"] != nil }
    // The thanks after the ride take its place at APNs.
    #expect(
      lost.contains {
        $0["rule"] == .string("arrived")
          && $0["reason"] == .string("the phone was off, and a later push took its place")
      },
      "\(lost)")
  }

  @Test func `Pictures of the app take the place of a card, and a missing one is named`() throws {
    let directory = FileManager.default.temporaryDirectory.appendingPathComponent(
      "pictures-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: directory) }
    let picture = Data("<svg xmlns=\"http://www.w3.org/2000/svg\"/>".utf8)
    try picture.write(to: directory.appendingPathComponent("driver_arrived.svg"))
    let (html, errors) = try page(["--card-images", directory.path])
    let url = "data:image/svg+xml;base64," + picture.base64EncodedString()
    #expect(try data(html)["images"] == .object(["driver_arrived": .string(url)]))
    #expect(html.contains("img-src data:;"))
    #expect(errors.contains("no picture for requested, ride_completed;"), "\(errors)")
  }

  /// (arguments, exit status, part of the message)
  private static let wrongPictures: [([String], Int32, String)] = [
    (["--format", "html", "--card-images", "/nope"], 1, "/nope: the directory can't be read"),
    (["--card-images", "/tmp"], 64, "--card-images without --format html"),
    (
      ["--format", "html", "--card-images", golden + "/rules"], 1,
      "no picture; expected STATE.png"
    ),
  ]

  @Test(arguments: wrongPictures.indices)
  func `A wrong directory of pictures is an error with its path`(index: Int) throws {
    let (words, status, message) = Self.wrongPictures[index]
    let result = try Command.ridepulse(Self.story + Self.rules + words)
    #expect(result.status == status && result.output.isEmpty, "\(result.errors)")
    #expect(result.errors.contains(message), "\(result.errors)")
  }

  @Test(arguments: shipped) func `The page of a shipped story can be mailed`(name: String) throws {
    let result = try Command.ridepulse([
      "preview", "--story", Project.path("docs/stories/\(name).yaml"), "--format", "html",
      "--schedules", Project.path("schedules"),
    ])
    #expect(result.status == 0, "\(result.errors)")
    #expect(result.output.utf8.count < 1 << 20, "\(result.output.utf8.count) bytes")
  }
}
