/// The name of a locale that formats follow: language, script and region, and the extensions that
/// change how times and numbers are written.
///
/// It is composed of known words only. Of `en-US-u-nu-klingon`, `en-US` is left.
struct FormatLocale: Hashable, Sendable {
  /// Such as `ar-AE-u-hc-h23-nu-arab`.
  let text: String
  /// The same without a numbering system.
  let textWithoutDigits: String

  /// Nil if the text is not a locale.
  init?(_ text: String) {
    guard let tag = LocaleTag(text) else { return nil }
    // Longer than any locale with these extensions.
    let extensions = text.utf8.count <= 120 ? Self.extensions(of: text) : [:]
    func composed(without left: String?) -> String {
      let kept = extensions.filter { $0.key != left }.sorted { $0.key < $1.key }
      return tag.text + (kept.isEmpty ? "" : "-u")
        + kept.map { "-\($0.key)-\($0.value)" }.joined()
    }
    self.text = composed(without: nil)
    textWithoutDigits = composed(without: "nu")
  }

  /// Returns the extensions in the form of BCP 47, `-u-nu-arab`, or of ICU, `@numbers=arab`.
  private static func extensions(of text: String) -> [String: String] {
    var found: [String: String] = [:]
    func add(_ key: some StringProtocol, _ value: String) {
      let key = names[String(key)] ?? String(key)
      if found[key] == nil, isKnown(value, of: key) { found[key] = value }
    }
    let text = text.lowercased()
    if let mark = text.firstIndex(of: "@") {
      for pair in text[text.index(after: mark)...].split(separator: ";") {
        let parts = pair.split(separator: "=")
        if parts.count == 2 { add(parts[0], String(parts[1])) }
      }
      return found
    }
    let parts = text.split { $0 == "-" || $0 == "_" }
    // `x` begins what is private, which may look like anything.
    guard let start = parts.firstIndex(where: { $0 == "u" || $0 == "x" }), parts[start] == "u"
    else { return found }
    var rest = parts[(start + 1)...].prefix { $0.utf8.count > 1 }
    while let key = rest.popFirst() {
      if key.utf8.count != 2 { continue }
      let value = rest.prefix { $0.utf8.count > 2 }
      rest = rest.dropFirst(value.count)
      add(key, value.joined(separator: "-"))
    }
    return found
  }

  /// ICU's names of the extensions.
  private static let names = ["numbers": "nu", "calendar": "ca", "hours": "hc"]

  private static func isKnown(_ value: String, of key: String) -> Bool {
    switch key {
    case "nu": digits.contains(value)
    case "ca": calendars.contains(value)
    case "hc": ["h11", "h12", "h23", "h24"].contains(value)
    // A region's customs: `gbzzzz`.
    case "rg":
      value.utf8.count == 6 && value.hasSuffix("zzzz")
        && value.utf8.allSatisfy { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0) }
    default: false
    }
  }

  /// CLDR's numbering systems with ten digits.
  private static let digits: Set<String> = [
    "adlm", "ahom", "arab", "arabext", "bali", "beng", "bhks", "brah", "cakm", "cham", "deva",
    "fullwide", "gong", "gonm", "gujr", "guru", "hanidec", "hmng", "hmnp", "java", "kali", "khmr",
    "knda", "lana", "lanatham", "laoo", "latn", "lepc", "limb", "mlym", "modi", "mong", "mroo",
    "mtei", "mymr", "mymrshan", "newa", "nkoo", "olck", "orya", "osma", "rohg", "saur", "shrd",
    "sind", "sinh", "sora", "sund", "takr", "talu", "tamldec", "telu", "thai", "tibt", "tirh",
    "vaii", "wara", "wcho",
  ]

  private static let calendars: Set<String> = [
    "buddhist", "chinese", "coptic", "dangi", "ethioaa", "ethiopic", "gregory", "hebrew", "indian",
    "islamic", "islamic-civil", "islamic-rgsa", "islamic-tbla", "islamic-umalqura", "iso8601",
    "japanese", "persian", "roc",
  ]
}
