import Foundation
import TestSupport
import Testing

@testable import RuleFiles

/// What is made from the key table: the docs' tables, and the schema for editors, which must accept
/// and refuse the same files as `check`.
@Suite struct KeyTableTests {
  private static let root = URL(filePath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()
  private static let schema = root.appending(path: "schedules/schema.json")

  private static let pages = ["docs/rules.md", "docs/cards.md"]

  @Test(arguments: pages) func docsHaveTheTablesOfKeys(page: String) throws {
    let document = KeyDocs.document(try Self.text(page))
    #expect(try Golden.difference(of: document, from: Project.path(page)) == nil)
  }

  @Test func eachTableOfKeysHasOnePlace() throws {
    let text = try Self.pages.map(Self.text).joined()
    for form in KeyDocs.forms {
      let count = text.components(separatedBy: KeyDocs.start(of: form)).count - 1
      #expect(count == 1, "keys of \(form.subject)")
    }
  }

  @Test func theSchemaIsTheRecordedOne() throws {
    #expect(try Golden.difference(of: try KeySchema.document(), from: Self.schema.path()) == nil)
  }

  @Test func shippedFilesNameTheSchema() throws {
    for file in try Self.shippedFiles() {
      #expect(file.text.hasPrefix("# yaml-language-server: $schema=schema.json\n"), "\(file.name)")
    }
  }

  @Test func validFilesAreAccepted() throws {
    let every = try Self.text("Tests/RuleFilesTests/Golden/every-key.yaml")
    #expect(problems(in: every) == [])
    let golden = Self.goldens().filter(\.messages.isEmpty)
    #expect(golden.count > 3)
    let others = try ["rules", "other"].map {
      (name: $0, text: try Self.text("Tests/RidePulseTests/Golden/\($0)/all.yaml"))
    }
    let files =
      try Self.shippedFiles() + others + [(name: "every-key.yaml", text: every)]
      + golden.map { (name: $0.name, text: $0.text) }
    for (file, errors) in zip(files, try Self.errors(in: files.map(\.text))) {
      #expect(errors == [], "\(file.name)")
    }
  }

  @Test func everyKeyOccursInTheFileOfEveryKey() throws {
    let text = try Self.text("Tests/RuleFilesTests/Golden/every-key.yaml")
    for key in KeyDocs.forms.flatMap(\.names) { #expect(text.contains("\(key):"), "\(key)") }
  }

  /// Parts of messages about what the schema does not express: names that other files declare, the
  /// content of placeholders and expressions, and sizes.
  private static let beyondSchema = [
    "unknown event", "unknown state", "final state", "not an active state",
    "a second app of", "for the second time;", "the locale", "both active and final",
    "a state named ride_updated",
    "in a placeholder of", "\" in cron", "do not come", "of the tz database",
    "number that JSON can hold", "}} in content-state", "expected at most", "contains a line break",
    ", its type is ", "as a locale of content-state", "in several languages in",
    "for a background push", "each of the two needs a token", "RidePulse emits this event itself",
    "with one, nothing is quiet", "so no person can turn it off",
    "that is declared under events", "that fire each other forever", ", and the push is valid for ",
    " of if)", "last in a rule without remember", "whose if does not read last",
    "in remember; expected", "phone in the if of a", "if in a live-activity without start",
    "has no expires", "in steps; expected it once", "steps names the", " | relative}} in ",
    "}} in title", "countdown is {{", "progress is {{", "color is ", "image is ",
    "}} in color", "draw: system next to", "next to a broadcast card",
    "in android next to alert; expected it", "in android next to background; expected it",
    "in android next to live-activity; expected it", "countdown has a filter",
    "or the generated file has one", "in a rule without a time of the ride",
    "at has another meaning for this one", "r.title or r.body in strings/",
  ]

  @Test func wrongFilesAreRefused() throws {
    let golden = Self.goldens().filter { !$0.messages.isEmpty }
    #expect(golden.count > 100)
    for (file, errors) in zip(golden, try Self.errors(in: golden.map(\.text))) {
      let isExpressible = file.messages.contains { message in
        !Self.beyondSchema.contains(where: message.contains)
      }
      #expect(isExpressible == !errors.isEmpty, "\(file.name): \(file.messages) \(errors)")
    }
  }

  /// No key accepts a list of lists, which only values within `data` and the like can be.
  @Test func everyKeyRefusesAWrongValue() throws {
    let card = "attributes-type: A, content-state: {}"
    let changes: [String] =
      KeyTable.rule.names.map { "\($0): [[1]]" }
      + KeyTable.alert.names.map { "alert: { body: x, \($0): [[1]] }" }
      + KeyTable.liveActivity.names.map {
        "-on\n-alert\nlive-activity: { \(card), broadcast: true, \($0): [[1]] }"
      }
      + KeyTable.cardAlert.names.map {
        "-on\n-alert\nlive-activity: { \(card), alerts: { no_show: { \($0): [[1]] } } }"
      }
      + KeyTable.androidAlert.names.map { "android: { \($0): [[1]] }" }
      + KeyTable.androidCard.names.map {
        "-on\n-alert\nlive-activity: { \(card) }\nandroid: { steps: [requested], \($0): [[1]] }"
      }
      + KeyTable.criticalSound.names.map {
        "alert: { body: x, sound: { name: x, critical: 1, \($0): [[1]] } }"
      }
    let files =
      changes.map { ruleFile(changing: $0) }
      + KeyTable.states.names.map { "states: { active: [a], final: [b], \($0): [[1]] }" }
      + KeyTable.defaults.names.map { "defaults: { \($0): [[1]] }" }
      + KeyTable.file.names.map { "\($0): [[1]]" }
    for (file, errors) in zip(files, try Self.errors(in: files)) {
      #expect(!problems(in: file).isEmpty && !errors.isEmpty, "\(file)")
    }
  }

  private static func text(_ path: String) throws -> String {
    try String(contentsOf: root.appending(path: path), encoding: .utf8)
  }

  private static func shippedFiles() throws -> [(name: String, text: String)] {
    try FileManager.default.contentsOfDirectory(atPath: root.appending(path: "schedules").path())
      .filter { $0.hasSuffix(".yaml") }.sorted().map { ($0, try text("schedules/\($0)")) }
  }

  /// The golden files that can be parsed as YAML, with their messages.
  private static func goldens() -> [(name: String, text: String, messages: [String])] {
    ["file", "rule", "alert", "card", "android"].flatMap { file in
      GoldenCase.all(in: file + ".txt").compactMap { row in
        let text = file == "file" ? row.input : ruleFile(changing: row.input)
        // YAML that no parser reads has its own golden file, except for this one.
        let isYAML = !row.expected.contains { $0.contains("a value that starts with") }
        return isYAML ? ("\(file).txt: \(row.name)", text, row.expected) : nil
      }
    }
  }

  /// Returns the errors of a JSON Schema validator for each text.
  private static func errors(in texts: [String]) throws -> [[String]] {
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/python3")
    process.arguments = [
      root.appending(path: "Tests/RuleFilesTests/Schema/validate.py").path(), schema.path(),
    ]
    let input = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    try JSONEncoder().encode(texts).write(to: input)
    defer { try? FileManager.default.removeItem(at: input) }
    process.standardInput = try FileHandle(forReadingFrom: input)
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    let json = try output.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    #expect(process.terminationStatus == 0)
    let errors = try JSONDecoder().decode([[String]].self, from: json)
    #expect(errors.count == texts.count)
    return errors
  }
}
