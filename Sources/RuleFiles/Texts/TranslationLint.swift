import Base
import RideCore

/// Warnings about texts that some languages of the directory lack.
struct TranslationLint {
  private let texts: TextCatalog
  /// The locales that at least one text has, without `default`.
  private let locales: [LocaleTag]

  init(_ texts: TextCatalog) {
    self.texts = texts
    var locales: Set<LocaleTag> = []
    for entry in texts.entries { locales.formUnion(Self.tags(entry.text).compactMap(\.self)) }
    self.locales = locales.sorted { $0.text < $1.text }
  }

  /// One warning for each text, in the order of the files.
  var lints: [RuleLint] {
    var lints = defaultWarning.map { [$0] } ?? []
    var reported: Set<String> = []
    for entry in texts.entries {
      let string = texts.localized(String(entry.name.dropFirst("strings.".count)))
      let isString = entry.name.hasPrefix("strings.") && string != nil
      // A string is an entry of each file that has it.
      if !isString || reported.insert(entry.name).inserted {
        let text = isString ? string ?? entry.text : entry.text
        if let warning = untranslated(text, entry.name) { lints.append(lint(warning, entry)) }
        lints += incompleteSelects(text, entry.name).map { lint($0, entry) }
      }
      lints += incompletePlurals(entry).map { lint($0, entry) }
    }
    return lints
  }

  private func lint(_ text: String, _ entry: TextCatalog.Entry) -> RuleLint {
    RuleLint(rule: entry.rule, at: FileLocation(entry.file, entry.location), text: text)
  }

  private func untranslated(_ text: LocalizedText, _ name: String) -> String? {
    guard locales.count > 1 else { return nil }
    let all = locales.map(\.text)
    let names = text.texts.map(\.locale)
    if names == [""] {
      guard text.texts[0].text.hasWords else { return nil }
      return
        "\(name) is one text for all languages; other texts have \(all.joined(separator: ", "))"
    }
    var tags = Self.tags(text)
    // A text for all others is in the language of the service.
    if names.contains("default"), let locale = texts.defaultLocale {
      tags.append(LocaleTag(locale))
    }
    let missing = locales.filter { LocaleFallback.index(of: $0, among: tags) == nil }
    if missing.isEmpty { return nil }
    let fallback = LocaleFallback(names, default: texts.defaultLocale)
    let other = names[fallback.choice(for: nil).index]
    return
      "\(name) has no text for \(missing.map(\.text).joined(separator: ", ")): those phones get "
      + "\(other)"
  }

  /// Warns that the order of files decides what a phone of another language gets.
  private var defaultWarning: RuleLint? {
    let files = Set(texts.entries.filter { $0.name.hasPrefix("strings.") }.map(\.file)).sorted()
    guard texts.defaultLocale == nil, files.count > 1, let first = files.first,
      !files.contains(where: { $0.hasSuffix("/default.yaml") })
    else { return nil }
    return RuleLint(
      rule: nil, at: FileLocation(first),
      text: "a phone of any other language gets these strings, because they are the first: write "
        + "defaults: { locale: en }, or another of the languages, into a rule file")
  }

  private func incompletePlurals(_ entry: TextCatalog.Entry) -> [String] {
    entry.text.texts.compactMap { locale, text in
      guard let tag = LocaleTag(locale) else { return nil }
      for placeholder in text.placeholders {
        for case .plural(let forms) in placeholder.filters {
          let needed = Set(PluralRules(tag).everydayCategories)
          let missing = needed.subtracting(forms.categories).map(\.rawValue).sorted()
          if missing.isEmpty { continue }
          return "the plural of {{\(placeholder.path)}} in \(entry.name) has no form "
            + "\(alternatives(missing)), which \(tag.text) has: those numbers take other"
        }
      }
      return nil
    }
  }

  /// Warns of words that the `select` of one language has and that of another lacks.
  private func incompleteSelects(_ text: LocalizedText, _ name: String) -> [String] {
    let words = text.texts.map { $0.text.selectWords }
    return zip(text.texts, words).compactMap { entry, own in
      for (path, known) in own.sorted(by: { $0.key < $1.key }) {
        let all = words.reduce(into: Set<String>()) { $0.formUnion($1[path] ?? []) }
        let missing = all.subtracting(known).sorted()
        if missing.isEmpty { continue }
        return "the select of {{\(path)}} in \(name) has no text for \(alternatives(missing)) in "
          + "\(entry.locale): those words take other"
      }
      return nil
    }
  }

  private static func tags(_ text: LocalizedText) -> [LocaleTag?] {
    text.texts.map { LocaleTag($0.locale) }
  }
}

extension TextTemplate {
  /// The words of each `select`, by path.
  fileprivate var selectWords: [String: Set<String>] {
    var words: [String: Set<String>] = [:]
    for placeholder in placeholders {
      for case .select(let forms) in placeholder.filters {
        words[placeholder.path, default: []].formUnion(forms.words)
      }
    }
    return words
  }

  /// Whether its constant parts have letters, so that it is in some language.
  fileprivate var hasWords: Bool {
    segments.contains {
      if case .literal(let text) = $0 { text.contains(where: \.isLetter) } else { false }
    }
  }
}
