import Base
import RideCore

/// The texts of one rule directory: the strings that rules may name, and every text for people that
/// its files have, so that translations can be compared.
final class TextCatalog {
  /// A text with the location where a person would translate it.
  struct Entry {
    let file: String
    let location: SourceLocation
    /// What messages call it, such as `body`.
    let name: String
    let text: LocalizedText
    var rule: String?
  }

  /// A key of the app's own strings that a rule names.
  struct KeyUse {
    let file: String
    let location: SourceLocation
    /// Such as `title-loc-key`.
    let name: String
    let key: String
    let argumentCount: Int
    var rule: String?
  }

  /// `defaults.locale`.
  var defaultLocale: String?
  /// The keys of `strings/`, each with its texts in the order of the files.
  private(set) var strings: [String: [(locale: String, text: TextTemplate)]] = [:]
  /// Whether every file of `strings/` could be read: only then can a key be unknown.
  var isComplete = true
  private(set) var entries: [Entry] = []
  private(set) var keyUses: [KeyUse] = []

  func add(_ key: String, _ text: TextTemplate, locale: String) {
    strings[key, default: []].append((locale, text))
  }

  func record(_ entry: Entry) { entries.append(entry) }

  func record(_ use: KeyUse) { keyUses.append(use) }

  /// Names the rule of what was recorded since these counts.
  func name(_ rule: String?, since counts: (entries: Int, keyUses: Int)) {
    for index in entries.indices.dropFirst(counts.entries) { entries[index].rule = rule }
    for index in keyUses.indices.dropFirst(counts.keyUses) { keyUses[index].rule = rule }
  }

  var counts: (entries: Int, keyUses: Int) { (entries.count, keyUses.count) }

  /// The locales of the strings.
  var locales: [String] { Set(strings.values.joined().map(\.locale)).sorted() }

  /// Returns whether phones of any other language can get the text of a key in `defaults.locale`.
  func isInDefaultLocale(_ key: String) -> Bool {
    guard let texts = strings[key] else { return false }
    guard let locale = defaultLocale.flatMap(LocaleTag.init) else { return true }
    let locales = texts.map(\.locale)
    return locales.contains("default")
      || LocaleFallback.index(of: locale, among: locales.map { LocaleTag($0) }) != nil
  }

  /// Returns the text of a key in each of its locales; nil if there is no such key.
  func localized(_ key: String) -> LocalizedText? { strings[key].flatMap { LocalizedText($0) } }

  /// Returns the text of a key for a locale, or the nearest there is; nil if there is no such key.
  func string(_ key: String, for locale: String?) -> TextTemplate? {
    guard let texts = strings[key] else { return nil }
    let fallback = LocaleFallback(texts.map(\.locale), default: defaultLocale)
    return texts[fallback.choice(for: locale == "default" ? nil : locale).index].text
  }
}
