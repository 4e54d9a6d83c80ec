/// A locale, reduced to what chooses a text: language, script and region.
///
/// `zh-TW`, `zh_Hant_TW` and `zh-Hant-TW` are one value, because the script is always known.
package struct LocaleTag: Hashable, Sendable {
  package let language: String
  /// The script as written, otherwise the likely one; empty if neither is known.
  package let script: String
  /// Empty if the locale names none.
  package let region: String

  /// Parses `de`, `pt-BR`, `zh_Hant_TW` or `en-US-u-hc-h23`; nil if it is no locale.
  ///
  /// What follows the region, such as a preference for a calendar, chooses no text.
  package init?(_ text: String) {
    let head = text.prefix { $0 != "@" && $0 != "." }
    let parts = head.split(omittingEmptySubsequences: false) { $0 == "-" || $0 == "_" }
    guard let first = parts.first, (2...3).contains(first.utf8.count), first.isLetters else {
      return nil
    }
    var language = first.lowercased()
    var script = ""
    var region = ""
    if let known = Self.aliases[language] {
      let parts = known.split(separator: "-")
      language = parts.first.map(String.init) ?? language
      script = parts.dropFirst().first.map(String.init) ?? ""
    }
    // A part of one letter starts an extension.
    for part in parts.dropFirst().prefix(while: { $0.utf8.count > 1 }) {
      if part.utf8.count == 4, part.isLetters, region.isEmpty {
        script = part.prefix(1).uppercased() + part.dropFirst().lowercased()
      } else if region.isEmpty, part.utf8.count == 2 && part.isLetters || part.isCode {
        region = part.uppercased()
      }
    }
    self.init(language, script, region)
  }

  private init(_ language: String, _ script: String, _ region: String) {
    self.language = language
    self.region = region
    self.script =
      script.isEmpty
      ? Self.scripts["\(language)-\(region)"] ?? Self.likely[language]?.script ?? "" : script
  }

  /// The locale as CLDR writes it: the script only if it is not the language's usual one.
  package var text: String {
    let usual = Self.likely[language]?.script ?? ""
    let isUsual = script == usual && (Self.scripts["\(language)-\(region)"] ?? usual) == usual
    return [language, isUsual ? "" : script, region].filter { !$0.isEmpty }.joined(separator: "-")
  }

  /// The locale whose text is used if there is none for this one; nil above a whole language.
  var parent: LocaleTag? {
    if let parent = Self.parents[text] { return LocaleTag(parent) }
    if region.isEmpty { return nil }
    // A script that is not the language's usual one inherits nothing from the language.
    return LocaleTag(language, script, "")
  }

  /// The locale that a text of this one also serves: `pt` for `pt-BR`, as most who speak Portuguese
  /// live in Brazil, and `no` for `nb`; nil for most.
  var representative: LocaleTag? {
    if language == "nb" { return LocaleTag("no", "", region) }
    if region.isEmpty { return nil }
    if language == "zh", script == "Hant", region == "TW" { return LocaleTag(language, script, "") }
    guard let likely = Self.likely[language], likely.region == region, likely.script == script
    else { return nil }
    return LocaleTag(language, script, "")
  }

  /// Returns this language as people write it where a phone is used: `en-FR` for English and `fr-FR`.
  func asUsed(with phone: LocaleTag) -> LocaleTag {
    let region = phone.region.isEmpty ? Self.likely[phone.language]?.region ?? "" : phone.region
    return LocaleTag(language, script, region)
  }

  private static let parents: [String: String] = {
    var parents: [String: String] = [:]
    for line in LocaleTable.parents.split(separator: "\n") {
      let parts = line.split(separator: ":")
      guard let parent = parts.first, let children = parts.last else { continue }
      for child in children.split(separator: " ") { parents[String(child)] = String(parent) }
    }
    return parents
  }()

  private static let likely: [String: (script: String, region: String)] = {
    var likely: [String: (script: String, region: String)] = [:]
    for (language, script, region) in triples(LocaleTable.likely) {
      likely[language] = (script, region)
    }
    return likely
  }()

  private static let scripts: [String: String] = {
    var scripts: [String: String] = [:]
    for (language, script, region) in triples(LocaleTable.scripts) {
      scripts["\(language)-\(region)"] = script
    }
    return scripts
  }()

  private static let aliases: [String: String] = {
    var aliases: [String: String] = [:]
    for pair in LocaleTable.aliases.split(separator: " ") {
      let parts = pair.split(separator: "=")
      if let old = parts.first, let new = parts.last { aliases[String(old)] = String(new) }
    }
    return aliases
  }()

  private static func triples(_ table: String) -> [(String, String, String)] {
    table.split(separator: " ").compactMap { entry in
      let parts = entry.split(separator: "-").map(String.init)
      return parts.count == 3 ? (parts[0], parts[1], parts[2]) : nil
    }
  }
}

extension Substring {
  fileprivate var isLetters: Bool { allSatisfy { $0.isASCII && $0.isLetter } }

  /// Whether it is a region's number, such as 419.
  fileprivate var isCode: Bool { utf8.count == 3 && allSatisfy { $0.isASCII && $0.isNumber } }
}
