import Synchronization

/// Chooses the text of a phone among those of one set of locales, as CLDR's inheritance has it:
/// `pt-AO` takes `pt-PT`, `es-MX` takes `es-419`, `zh-HK` takes `zh-Hant` and never `zh`.
///
/// An object, because the choice for each locale is made once and not for each push.
package final class LocaleFallback: Sendable {
  /// The text of a phone, and how values in it are written.
  package struct Choice: Sendable {
    package let index: Int
    package let formats: LocaleFormats
  }

  private let tags: [LocaleTag?]
  /// The index of the text for a phone whose locale has none.
  private let last: Int
  /// The choice for a phone without a locale.
  private let unspecified: Choice
  private let known = Mutex<[String: Choice]>([:])

  /// - Parameters:
  ///   - names: the locales of the texts, at least one; `""` if there is one text for all.
  ///   - defaultLocale: `defaults.locale` of the rule files.
  package init(_ names: [String], default defaultLocale: String? = nil) {
    let tags = names.map { LocaleTag($0) }
    let byDefault = defaultLocale.flatMap(LocaleTag.init)
    let last =
      byDefault.flatMap { Self.index(of: $0, among: tags) } ?? names.firstIndex(of: "default") ?? 0
    self.tags = tags
    self.last = last
    let own = tags.indices.contains(last) ? tags[last] : nil
    let formats: LocaleFormats =
      if let defaultLocale, let byDefault, own == nil || byDefault.language == own?.language {
        .of(defaultLocale)
      } else {
        own.map { .of($0.text, isNeutral: true) } ?? .neutral
      }
    unspecified = Choice(index: last, formats: formats)
  }

  /// Returns the text for a phone with this locale: that of the nearest parent, otherwise that of
  /// `defaults.locale`, otherwise `default`, otherwise the first.
  package func choice(for locale: String?) -> Choice {
    guard let locale, !locale.isEmpty else { return unspecified }
    if let known = known.withLock({ $0[locale] }) { return known }
    let choice = choose(locale)
    known.withLock { known in
      // Locales come from the phones' rows, so their number is limited only here.
      if known.count >= 1000 { known.removeAll() }
      known[locale] = choice
    }
    return choice
  }

  private func choose(_ locale: String) -> Choice {
    guard let tag = LocaleTag(locale) else { return unspecified }
    let index = Self.index(of: tag, among: tags) ?? last
    guard tags.indices.contains(index), let own = tags[index],
      own.language != tag.language || own.script != tag.script
    else {
      return Choice(index: index, formats: .of(locale))
    }
    // The words are those of the text's language, clock and currency those of the phone's region.
    return Choice(index: index, formats: .of(own.asUsed(with: tag).text))
  }

  /// Returns the locale and its parents, the nearest first.
  package static func chain(of tag: LocaleTag) -> [LocaleTag] {
    Array(sequence(first: tag) { $0.parent })
  }

  /// Returns the index of the locale or of its nearest parent; nil if there is neither.
  package static func index(of tag: LocaleTag, among tags: [LocaleTag?]) -> Int? {
    for step in sequence(first: tag, next: { $0.parent }) {
      let index =
        tags.firstIndex { $0 == step } ?? tags.firstIndex { $0?.representative == step }
      if let index { return index }
    }
    return nil
  }
}
