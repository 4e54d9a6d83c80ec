import Testing

@testable import RideCore
@testable import RuleFiles

/// The warnings about translations that are missing.
@Suite struct TranslationLintTests {
  private func warnings(
    _ rule: String, _ strings: [(String, String)] = []
  ) throws -> [String] {
    try StringsTests.load(rule, strings).get().translationLints.map {
      "\($0.source ?? ""): \($0.rule ?? "-"): \($0.text)"
    }
  }

  @Test(
    arguments: [
      ("alert: { title: { en: a, de: b }, body: { en: a, de: b } }", []),
      ("alert: { title: { en: a }, body: x }", []),
      ("alert: { title: a, body: b }", []),
      (
        "alert: { title: { en: a, de: b, fr: c }, body: { en: a, de: b } }",
        ["a.yaml:5:52: r: body has no text for fr: those phones get en"]
      ),
      (
        "alert: { title: { en: a, de: b }, body: Hello, subtitle: '{{ride.id}} · 5' }",
        ["a.yaml:5:45: r: body is one text for all languages; other texts have de, en"]
      ),
      // A region inherits, and a text of a region serves its language.
      ("alert: { title: { en: a, en-GB: b, pt: c }, body: { en: a, pt-BR: b } }", []),
      (
        "alert: { title: { en: a, zh-Hant: b }, body: { en: a, zh: b } }",
        [
          "a.yaml:5:21: r: title has no text for zh: those phones get en",
          "a.yaml:5:50: r: body has no text for zh-Hant: those phones get en",
        ]
      ),
      (
        "alert: { title: { en: a, de: b }, body: { default: a } }",
        ["a.yaml:5:45: r: body has no text for de, en: those phones get default"]
      ),
      (
        "alert: { title: { en: \"{{event.name | select: 'a=A|b=B|other=C'}}\", "
          + "de: \"{{event.name | select: 'a=A|other=C'}}\" } }",
        [
          "a.yaml:5:21: r: the select of {{event.name}} in title has no text for b in de: those "
            + "words take other"
        ]
      ),
      (
        "alert: { title: { pl: \"{{ride.attributes.n | plural: 'one=a|other=b'}}\" } }",
        [
          "a.yaml:5:21: r: the plural of {{ride.attributes.n}} in title has no form few or many, which "
            + "pl has: those numbers take other"
        ]
      ),
    ])
  func `R94: each text once, with its location`(rule: String, expected: [String]) throws {
    #expect(try warnings(ruleFile(changing: rule)) == expected)
  }

  @Test func `R94: strings, the default locale, and the file that decides without one`() throws {
    let strings = [("en", "a: x\nb: y\n"), ("de", "a: x\n"), ("fr", "a: x\nb: z\n")]
    let rule = ruleFile(changing: "alert: { title: '{{strings.b}}', body: { en: a, de: b } }")
    #expect(
      try warnings(rule, strings) == [
        "strings/de.yaml: -: a phone of any other language gets these strings, because they are the "
          + "first: write defaults: { locale: en }, or another of the languages, into a rule file",
        "strings/en.yaml:2:1: -: strings.b has no text for de: those phones get en",
        "a.yaml:5:44: r: body has no text for fr: those phones get en",
      ])
    #expect(
      try warnings("defaults: { locale: fr }\n" + rule, strings) == [
        "strings/en.yaml:2:1: -: strings.b has no text for de: those phones get fr",
        "a.yaml:6:44: r: body has no text for fr: those phones get en",
      ])
    #expect(
      try warnings(
        "defaults: { locale: en }\n" + ruleFile(changing: "alert: { title: { de: a, default: b } }")
      )
        == [])
    // Its text for all others is in the language of the service.
    #expect(
      try warnings(
        "defaults: { locale: en }\n"
          + ruleFile(changing: "alert: { title: { de: a, default: b }, body: { de: a, en: b } }"))
        == [])
  }
}
