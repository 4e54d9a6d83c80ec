import Foundation
import TestSupport
import Testing

@testable import RideCore

/// Plural categories, and the forms of a text.
@Suite struct PluralTests {
  @Test func `R93: every language of CLDR has the categories that babel gives`() throws {
    let file = Project.path("Tests/RideCoreTests/Golden/cldr-plural.tsv")
    let rows = try String(contentsOfFile: file, encoding: .utf8).split(separator: "\n").map {
      $0.split(separator: "\t").map { $0.split(separator: " ").map(String.init) }
    }
    let numbers = try #require(rows.first?.last)
    var languages = 0
    for row in rows.dropFirst() {
      for language in row[0] {
        let rules = PluralRules(LocaleTag(language))
        let found = try numbers.map { rules.category(of: try #require(PluralNumber($0))).rawValue }
        #expect(found == row[1], "\(language)")
        languages += 1
      }
    }
    #expect(languages > 300)
  }

  @Test(
    arguments: [
      ("one=# minute|other=# minutes", "1", "# minute"), ("one=a|other=b", "1", "a"),
      ("one=a|other=b", "2", "b"), ("one=a|other=b", "1.5", "b"),
      ("0=none|one=a|other=b", "0", "none"),
      (" 0 =none|one=a|other=b", "0", "none"), ("other=", "7", ""), ("other=a=b", "7", "a=b"),
    ])
  func forms(text: String, number: String, expected: String) throws {
    let rules = PluralRules(LocaleTag("en"))
    #expect(try PluralForms(text).form(of: number, by: rules) == expected)
  }

  @Test(
    arguments: [
      ("", .noForm("")), ("minutes", .noForm("minutes")), ("one=a", .noOther),
      ("on=a|other=b", .unknown("on")), ("01=a|other=b", .unknown("01")),
      ("one=a|one=b|other=c", .twice("one")), ("=a|other=b", .unknown("")),
    ] as [(String, PluralForms.Fault)])
  func refused(text: String, fault: PluralForms.Fault) {
    #expect(throws: fault) { try PluralForms(text) }
  }

  @Test(arguments: ["", "-", "1.", ".5", "a", "1e3", "1,5", "--1", "+1", "١"])
  func `what is no number`(text: String) { #expect(PluralNumber(text) == nil) }

  @Test func `numbers beyond 64 bits`() throws {
    let rules = PluralRules(LocaleTag("pl"))
    let number = try #require(
      PluralNumber("99999999999999999999999999999999.00000000000000000000001"))
    #expect(rules.category(of: number) == .other)
    #expect(rules.category(of: try #require(PluralNumber("100000000000000000000000"))) == .many)
  }

  @Test func `categories that people meet`() {
    #expect(PluralRules(LocaleTag("fr")).everydayCategories == [.one, .other])
    #expect(PluralRules(LocaleTag("pl")).everydayCategories == [.one, .few, .many])
    #expect(PluralRules(LocaleTag("ja")).everydayCategories == [.other])
    #expect(PluralRules(nil).everydayCategories == [.other])
  }
}
