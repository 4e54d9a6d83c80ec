import Foundation
import TestSupport
import Testing

@testable import RideCore

/// Which text a phone gets.
@Suite struct LocaleFallbackTests {
  private func chosen(_ locale: String?, _ names: [String], default standard: String? = nil)
    -> String
  {
    names[LocaleFallback(names, default: standard).choice(for: locale).index]
  }

  /// A phone's locale, and the locales whose text it takes if there are no others.
  @Test(arguments: [
    ("pt-PT", "pt-PT pt"), ("pt-BR", "pt-BR pt"), ("pt-AO", "pt-AO pt-PT pt"),
    ("pt_Latn_BR", "pt-BR pt"), ("zh-TW", "zh-Hant-TW zh-Hant"), ("zh-HK", "zh-Hant-HK zh-Hant"),
    ("zh-MO", "zh-Hant-MO zh-Hant-HK zh-Hant"), ("zh_Hant_TW", "zh-Hant-TW zh-Hant"),
    ("zh-Hans-HK", "zh-Hans-HK zh"), ("zh-CN", "zh-CN zh"), ("zh-Hans", "zh"),
    ("es-MX", "es-MX es-419 es"), ("es-ES", "es-ES es"), ("en-AU", "en-AU en-001 en"),
    ("en_GB", "en-GB en-001 en"), ("en-CH", "en-CH en-150 en-001 en"), ("en-US", "en-US en"),
    ("nb", "nb no"), ("nb-NO", "nb-NO nb no"), ("nn-NO", "nn-NO nn no"), ("no", "no"),
    ("sr", "sr"), ("sr-RS", "sr-RS sr"), ("sr-Latn-RS", "sr-Latn-RS sr-Latn"),
    ("sr-ME", "sr-Latn-ME sr-Latn"), ("de-AT", "de-AT de"), ("DE_at", "de-AT de"),
    ("iw-IL", "he-IL he"), ("in", "id"), ("hi-Latn", "hi-Latn en-IN en-001 en"),
    ("en-US-u-hc-h23", "en-US en"), ("en_US@calendar=buddhist", "en-US en"), ("xx-YY", "xx-YY xx"),
  ])
  func `R93: parents of a locale`(locale: String, chain: String) throws {
    let tag = try #require(LocaleTag(locale))
    #expect(LocaleFallback.chain(of: tag).map(\.text).joined(separator: " ") == chain)
  }

  @Test(arguments: ["", "d", "-", "_", "12", "d3", "@x", "ü", "toolonglanguage"])
  func `what is no locale`(text: String) { #expect(LocaleTag(text) == nil) }

  @Test func `R93: every locale of CLDR has the parents that babel reads`() throws {
    let file = Project.path("Tests/RideCoreTests/Golden/cldr-fallback.tsv")
    let lines = try String(contentsOfFile: file, encoding: .utf8).split(separator: "\n")
    #expect(lines.count > 1000)
    for line in lines {
      let parts = line.split(separator: "\t")
      let tag = try #require(parts.first.flatMap { LocaleTag(String($0)) })
      var expected: [LocaleTag] = []
      for name in parts[1].split(separator: " ") {
        // `zh-Hans` and `zh` are one to us.
        let step = try #require(LocaleTag(String(name)))
        if step != expected.last { expected.append(step) }
      }
      #expect(LocaleFallback.chain(of: tag) == expected, "\(line)")
    }
  }

  /// A phone's locale, the locales of the texts, and the one that is chosen.
  @Test(
    arguments: [
      ("en", "en de", "en"), ("de", "en de", "de"), ("de-AT", "en de", "de"),
      ("fr", "en de", "en"), (nil, "en de", "en"), ("", "en de", "en"), ("d", "en de", "en"),
      ("fr", "en default de", "default"), (nil, "en default", "default"),
      ("pt-BR", "en pt-BR pt", "pt-BR"), ("pt_BR", "en pt-BR", "pt-BR"),
      ("pt-AO", "en pt pt-PT", "pt-PT"), ("pt-PT", "en pt-BR", "pt-BR"),
      ("pt", "en pt-BR", "pt-BR"),
      ("pt-BR", "en pt-PT", "en"), ("zh-TW", "en zh zh-Hant", "zh-Hant"), ("zh-TW", "en zh", "en"),
      ("zh-Hant-HK", "en zh-TW zh-CN", "zh-TW"), ("zh-CN", "en zh-Hant zh-Hans", "zh-Hans"),
      ("zh-Hant-TW", "en zh_TW", "zh_TW"), ("es-MX", "en es es-419", "es-419"),
      ("es-MX", "en es-ES", "es-ES"), ("nb-NO", "en no", "no"), ("no", "en nb", "nb"),
      ("nn", "en nb", "nb"), ("he", "en iw", "iw"), ("id-ID", "en in", "in"),
      ("sr-Latn", "en sr", "en"), ("sr-ME", "en sr sr-Latn", "sr-Latn"), ("fr", "", ""),
    ] as [(String?, String, String)])
  func `R93: the text of a phone`(locale: String?, names: String, expected: String) {
    let names = names.isEmpty ? [""] : names.split(separator: " ").map(String.init)
    #expect(chosen(locale, names) == expected)
  }

  @Test(
    arguments: [
      ("fr", "de en default", "en", "en"), (nil, "de en", "en", "en"), ("de", "de en", "en", "de"),
      ("fr", "de en", "en-GB", "en"), ("fr", "de default en-GB", "en-US", "default"),
      ("fr", "de nl", "en", "de"), ("fr", "de nl", "garbage!", "de"),
    ] as [(String?, String, String, String)])
  func `R93: defaults.locale`(locale: String?, names: String, standard: String, expected: String) {
    let names = names.split(separator: " ").map(String.init)
    #expect(chosen(locale, names, default: standard) == expected)
  }

  @Test func `more locales than are kept`() {
    let fallback = LocaleFallback(["en", "de"])
    for number in 0..<2500 { #expect(fallback.choice(for: "de-\(number)").index == 1) }
  }
}
