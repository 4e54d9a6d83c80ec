import Testing

@testable import Base
@testable import RideCore
@testable import RuleFiles

/// `check --strings`: the loc-keys of rules against the app's String Catalog.
@Suite struct CatalogTests {
  private static let catalog = """
    {
      "sourceLanguage" : "en",
      "strings" : {
        "ARRIVED" : { "localizations" : {
          "en" : { "stringUnit" : { "state" : "translated", "value" : "%@ is waiting, %@" } },
          "de" : { "stringUnit" : { "state" : "needs_review", "value" : "%2$@: %1$@ wartet, 100%%" } } } },
        "SEATS" : { "extractionState" : "stale", "localizations" : {
          "en" : { "variations" : { "plural" : {
            "one" : { "stringUnit" : { "state" : "translated", "value" : "%lld seat" } },
            "other" : { "stringUnit" : { "state" : "translated", "value" : "%lld seats" } } } } } } },
        "COUNT" : { "localizations" : {
          "en" : { "stringUnit" : { "value" : "%#@seats@" }, "substitutions" : { "seats" : { "argNum" : 1 } } } } },
        "Plain %@" : {},
        "BRAND" : { "shouldTranslate" : false },
        "SHORT" : { "localizations" : {
          "en" : { "stringUnit" : { "value" : "%@ and %@" } },
          "de" : { "stringUnit" : { "value" : "nur %@" } } } },
        "LONG" : { "localizations" : {
          "de" : { "stringUnit" : { "value" : "%@ und %@" } },
          "en" : { "stringUnit" : { "value" : "only %@" } } } },
        "FIRST" : { "localizations" : { "en" : { "variations" : { "plural" : {
            "one" : { "stringUnit" : { "value" : "%lld seat" } },
            "other" : { "stringUnit" : { "value" : "seats" } } } } } } },
        "REST" : { "localizations" : { "en" : { "variations" : { "plural" : {
            "one" : { "stringUnit" : { "value" : "a seat" } },
            "other" : { "stringUnit" : { "value" : "%lld seats" } } } } } } }
      },
      "version" : "1.0"
    }
    """

  private func compared(_ alert: String) throws -> (problems: [String], warnings: [String]) {
    let rules = try StringsTests.load(ruleFile(changing: "alert: { \(alert) }"), []).get()
    let catalog = try StringCatalog(file: "L.xcstrings", bytes: Array(Self.catalog.utf8))
    let comparison = CatalogComparison(rules, with: [catalog])
    return (
      comparison.problems.map(\.message),
      comparison.warnings.map { "\($0.source ?? ""): \($0.rule ?? ""): \($0.text)" }
    )
  }

  @Test(
    arguments: [
      ("loc-key: ARRIVED, loc-args: [a, b]", []), ("loc-key: BRAND", []),
      ("loc-key: SHORT, loc-args: [a, b]", []), ("loc-key: LONG, loc-args: [a, b]", []),
      ("title-loc-key: 'Plain %@', title-loc-args: [a]", []),
      (
        "loc-key: ARIVED",
        [
          "loc-key \"ARIVED\" is not in L.xcstrings; expected a key of the app's texts: phones would show "
            + "the key itself; did you mean \"ARRIVED\"?"
        ]
      ),
      (
        "title-loc-key: ARRIVED, title-loc-args: [a]",
        [
          "\"ARRIVED\" takes 2 arguments in de, title-loc-args has 1; expected as many in both",
          "\"ARRIVED\" takes 2 arguments in en, title-loc-args has 1; expected as many in both",
        ]
      ),
      (
        "loc-key: ARRIVED, loc-args: [a, b, c]",
        [
          "loc-args has 3 arguments, \"ARRIVED\" takes 2 in every language; expected as many in both"
        ]
      ),
      (
        "subtitle: x, body: y, subtitle-loc-key: SEATS, subtitle-loc-args: ['4']",
        [
          "\"SEATS\" takes %lld as argument 1 in en; expected %@ in L.xcstrings: the arguments of a push "
            + "are texts"
        ]
      ),
      (
        "loc-key: COUNT, loc-args: ['4']",
        [
          "\"COUNT\" takes %#@seats@ as argument 1 in en; expected %@ in L.xcstrings: the arguments of a "
            + "push are texts"
        ]
      ),
      (
        "loc-key: FIRST, loc-args: ['1']",
        [
          "\"FIRST\" takes %lld as argument 1 in en; expected %@ in L.xcstrings: the arguments of a push "
            + "are texts"
        ]
      ),
      (
        "loc-key: REST, loc-args: ['4']",
        [
          "\"REST\" takes %lld as argument 1 in en; expected %@ in L.xcstrings: the arguments of a push "
            + "are texts"
        ]
      ),
      ("loc-key: '{{ride.state}}'", []),
    ])
  func `R94: keys and arguments`(alert: String, expected: [String]) throws {
    #expect(try compared(alert).problems == expected)
  }

  @Test(
    arguments: [
      ("loc-key: ARRIVED, loc-args: [a, b]", []), ("loc-key: BRAND", []),
      (
        "loc-key: 'Plain %@', loc-args: [a]",
        [
          "a.yaml:5:23: r: Plain %@ has no text in de of L.xcstrings: those phones show that of en"
        ]
      ),
    ])
  func `R94: languages that the catalog lacks`(alert: String, expected: [String]) throws {
    #expect(try compared(alert).warnings == expected)
  }

  @Test func `R94: the alerts of cards count too, and each location is named`() throws {
    let rules = try StringsTests.load(
      ruleFile(
        changing: """
          -on
          -alert
          live-activity:
            attributes-type: T
            content-state: {}
            alerts: { no_show: { title-loc-key: GONE } }
          """), []
    ).get()
    let catalog = try StringCatalog(file: "L.xcstrings", bytes: Array(Self.catalog.utf8))
    let comparison = CatalogComparison(rules, with: [catalog])
    #expect(comparison.problems.map { $0.location?.line } == [8])
    #expect(comparison.keyCount == 1)
  }

  @Test(
    arguments: [
      ("%@", [1: "%@"]), ("%1$@ %2$@", [1: "%@", 2: "%@"]), ("%2$@", [2: "%@"]), ("100%", [:]),
      ("100 %", [:]), ("100% sure", [:]), ("%%@", [:]), ("%%%@", [1: "%@"]),
      ("%d %lld %5.2f", [1: "%d", 2: "%lld", 3: "%f"]),
      ("%#@a@ %@", [1: "%#@a@", 2: "%@"]), ("%1$#@a@", [1: "%#@a@"]), ("%#@a", [:]), ("%", [:]),
      ("%1$", [:]), ("%999$@", [:]), ("5 % discount", [:]),
    ] as [(String, [Int: String])])
  func specifiers(text: String, expected: [Int: String]) {
    #expect(FormatSpecifiers(text).arguments == expected)
  }

  @Test(
    arguments: [
      (
        "{\n  \"a\": x\n}",
        "L:2:8: a value is expected; expected JSON, as Xcode writes a String Catalog"
      ),
      ("", "L:1:1: it ends too early; expected JSON, as Xcode writes a String Catalog"),
      (
        "[]",
        "L: no String Catalog; expected an object with sourceLanguage and strings, as Xcode writes it"
      ),
      (
        "{\"sourceLanguage\": \"en\", \"strings\": []}",
        "L: no String Catalog; expected an object with sourceLanguage and strings, as Xcode writes it"
      ),
    ])
  func `R94: what is no catalog`(text: String, expected: String) {
    let problem = #expect(throws: RuleProblem.self) {
      try StringCatalog(file: "L", bytes: Array(text.utf8))
    }
    #expect(problem?.description == expected)
  }

  @Test func `a catalog of strange shapes is read without a trap`() throws {
    let text =
      #"{"sourceLanguage":"en","strings":{"a":5,"b":{"localizations":[]},"c":{"localizations":{"de":1}}}}"#
    let catalog = try StringCatalog(file: "L", bytes: Array(text.utf8))
    #expect(catalog.entries.count == 3 && catalog.languages == ["en"])
    #expect(catalog.texts(of: "c", in: "en") == ["c"])
  }
}
