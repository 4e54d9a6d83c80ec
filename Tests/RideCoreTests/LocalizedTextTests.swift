import Testing

@testable import RideCore

@Suite struct LocalizedTextTests {
  private func fallback(_ texts: LocalizedText) -> LocaleFallback {
    LocaleFallback(texts.texts.map(\.locale))
  }

  @Test(
    arguments: [
      ("en", 0), ("de", 1), ("de-AT", 1), ("DE_at", 1), ("pt-BR", 2), ("pt_BR", 2), ("pt", 2),
      ("pt-PT", 2), ("zh-Hant-TW", 4), ("zh-Hans-CN", 3), ("fr", 3), ("", 3), ("d", 3), (nil, 3),
    ] as [(String?, Int)])
  func textOfALocale(locale: String?, index: Int) {
    let locales = ["en", "de", "pt-BR", "default", "zh-Hant"]
    let texts = LocalizedText(locales.map { ($0, TextTemplate(literal: $0)) })
    #expect(texts.map { fallback($0).choice(for: locale).index } == index)
  }

  @Test func textWithoutADefault() {
    let texts = LocalizedText([
      ("en", TextTemplate(literal: "a")), ("de", TextTemplate(literal: "b")),
    ])
    #expect(texts.map { fallback($0).choice(for: "fr").index } == 0)
    #expect(fallback(LocalizedText(TextTemplate(literal: "a"))).choice(for: "de").index == 0)
    #expect(LocalizedText([]) == nil)
  }
}
