import Foundation
import TestSupport
import Testing

/// `ridepulse check --strings`, and strings in the rule directory. `CatalogTests` covers what is
/// compared.
@Suite struct StringsCheckTests {
  private static let rules = """
    states: { active: [requested], final: [done] }
    defaults: { locale: en }
    rules:
      - name: arrived
        app: customer
        on: requested
        alert: { title: "{{strings.title}}", loc-key: ARRIVED, loc-args: [a] }
        expires: 5m
      - { name: over, app: customer, on: done, alert: { title: { en: x, de: y } }, expires: 5m }

    """

  private static func check(_ catalog: String, _ words: [String] = []) throws -> Tool {
    try ScratchFolder.with { folder in
      try FileManager.default.createDirectory(
        atPath: folder + "/rules/strings", withIntermediateDirectories: true)
      let files = [
        ("rules/a.yaml", rules), ("rules/strings/en.yaml", "title: Here\n"),
        ("L.xcstrings", catalog),
      ]
      for (name, text) in files {
        try Data(text.utf8).write(to: URL(fileURLWithPath: "\(folder)/\(name)"))
      }
      return try Command.ridepulse(
        ["check", "rules", "--strings", "L.xcstrings"] + words, in: folder)
    }
  }

  private static func catalog(_ text: String) -> String {
    #"{"sourceLanguage":"en","strings":{"ARRIVED":{"localizations":{"en":{"stringUnit":{"value":"\#(text)"}}}}}}"#
  }

  @Test func `R94: keys that fit, and a warning for each missing translation`() throws {
    let result = try Self.check(Self.catalog("%@ is here"))
    #expect(result.status == 0, "\(result)")
    #expect(
      result.output.contains(
        "rules/strings/en.yaml:1:1: warning: strings.title has no text for de: those phones get en\n"
      ))
    #expect(
      result.output.hasSuffix("L.xcstrings: 1 key of the rules compared, 0 problems\n"),
      "\(result.output)")
  }

  @Test func `R94: a text with other arguments is a problem`() throws {
    let result = try Self.check(Self.catalog("%@ is here at %@"))
    #expect(result.status == 2)
    #expect(
      result.output.contains(
        "rules/a.yaml:7:51: \"ARRIVED\" takes 2 arguments in en, loc-args has 1; expected as many in "
          + "both\nL.xcstrings: 1 key of the rules compared, 1 problem\n"), "\(result.output)")
  }

  @Test func `what is no catalog, and a file that is missing`() throws {
    let broken = try Self.check("{,}")
    #expect(broken.status == 2)
    #expect(broken.output.contains("L.xcstrings:1:2: a name in quotes is expected; expected JSON"))
    let missing = try Self.check("{}", ["--strings", "/nope.xcstrings"])
    #expect(missing.status == 1 && missing.errors.contains("/nope.xcstrings can't be read"))
  }
}
