import Testing

@testable import Base
@testable import RideCore
@testable import RuleFiles

/// `check --strings res/values/strings.xml`: the loc-keys of rules against an Android app's texts.
@Suite struct AndroidStringsTests {
  private static let own = """
    <?xml version="1.0" encoding="utf-8"?>
    <!-- <string name="gone">%1$s</string> -->
    <resources xmlns:xliff="urn:oasis:names:tc:xliff:document:1.2">
      <string name="arrived">%1$s is <b>here</b>, %2$s</string>
      <string translatable="false"
          name='brand'>Rides 100%%</string>
      <string name="plate">Look for <xliff:g id="x" example="9 %d">%1$s</xliff:g></string>
      <string name="number">%1$d seats</string>
      <string name="empty"/>
      <plurals name="seats"><item quantity="one">one</item></plurals>
    </resources>
    """
  private static let german = """
    <resources><string name="arrived">%1$s ist da</string><string name="brand">Rides</string></resources>
    """

  private func compared(_ alert: String) throws -> CatalogComparison {
    let rules = try StringsTests.load(ruleFile(changing: "alert: { \(alert) }"), []).get()
    let files = [("res/values/strings.xml", Self.own), ("res/values-de/strings.xml", Self.german)]
    let catalog = try StringCatalog(
      android: files.map { (file: $0.0, bytes: Array($0.1.utf8)) })
    return CatalogComparison(rules, with: [catalog])
  }

  private static let files = "res/values/strings.xml, res/values-de/strings.xml"

  @Test(
    arguments: [
      ("loc-key: brand", []), ("loc-key: plate, loc-args: [a]", []),
      // Android shows no subtitle.
      ("title: x, subtitle-loc-key: nowhere", []),
      (
        "loc-key: arived",
        [
          "loc-key \"arived\" is not in \(files); expected a key of the app's texts: Android phones would "
            + "not show the text; did you mean \"arrived\"?"
        ]
      ),
      (
        "loc-key: arrived, loc-args: [a]",
        ["\"arrived\" takes 2 arguments in values, loc-args has 1; expected as many in both"]
      ),
      (
        "loc-key: number, loc-args: ['4']",
        [
          "\"number\" takes %d as argument 1 in values; expected %s in \(files): the arguments of a push "
            + "are texts"
        ]
      ),
    ])
  func `names and arguments`(alert: String, expected: [String]) throws {
    #expect(try compared(alert).problems.map(\.message) == expected)
  }

  @Test(arguments: ["gone", "empty", "seats"])
  func `what is no string of the app is not found`(name: String) throws {
    let problems = try compared("loc-key: \(name)").problems.map(\.message)
    #expect(problems.count == 1)
    #expect(problems.first?.hasPrefix("loc-key \"\(name)\" is not in ") == true)
  }

  @Test func `a language without the text is a warning`() throws {
    let texts = try compared("loc-key: plate, loc-args: [a]").warnings.map(\.text)
    #expect(
      texts == ["plate has no text in de of \(Self.files): those phones show that of values"])
  }

  @Test(arguments: ["", "{}", "<string name=\"a\">x</string>"])
  func `a file without resources is refused`(text: String) {
    let problem = #expect(throws: RuleProblem.self) {
      try StringCatalog(android: [(file: "strings.xml", bytes: Array(text.utf8))])
    }
    #expect(
      problem?.description == "strings.xml: no resources; expected the strings of an Android app, "
        + "such as res/values/strings.xml")
  }

  @Test(arguments: [
    "<resources><string name=", "<resources><string name=\"a\">x", "<resources><!--",
    "<resources><string >x</string><string name=>y</string>",
  ])
  func `a damaged file is read without a trap`(text: String) throws {
    let strings = try AndroidStrings(file: "values-fr/s.xml", bytes: Array(text.utf8))
    #expect(strings.texts.isEmpty && strings.language == "fr")
  }
}
