import Base
internal import RideCore

/// The app's own texts: a String Catalog (`Localizable.xcstrings`), as Xcode writes it, or the strings
/// of an Android app.
package struct StringCatalog: Sendable {
  /// One text of the catalog.
  struct Entry {
    /// The texts by language; several if they vary by number or device.
    var texts: [String: [String]] = [:]
    /// Whether Xcode's "Don't translate" is set.
    var isSame = false
  }

  /// The system of the app.
  let platform: Platform
  package let file: String
  let sourceLanguage: String
  let entries: [String: Entry]
  /// Every language of the catalog.
  let languages: [String]

  /// The maximum nesting of a catalog; Xcode's own have about ten levels.
  private static let depthLimit = 64

  /// - Throws: `RuleProblem` if the file is not a catalog.
  package init(file: String, bytes: [UInt8]) throws(RuleProblem) {
    let root: JSONValue
    do throws(JSONParser.Fault) {
      root = try JSONParser.parse(bytes, depthLimit: Self.depthLimit)
    } catch {
      throw RuleProblem(
        file: file, location: SourceLocation(ofByte: error.offset, in: bytes), found: error.what,
        expected: "JSON, as Xcode writes a String Catalog")
    }
    guard case .string(let source)? = root["sourceLanguage"],
      case .object(let strings)? = root["strings"]
    else {
      throw RuleProblem(
        file: file, location: nil, found: "no String Catalog",
        expected: "an object with sourceLanguage and strings, as Xcode writes it")
    }
    let entries = strings.mapValues { Self.entry($0) }
    self.init(
      platform: .ios, file: file, sourceLanguage: source, entries: entries,
      languages: Set(entries.values.flatMap(\.texts.keys)).union([source]).sorted())
  }

  init(
    platform: Platform, file: String, sourceLanguage: String, entries: [String: Entry],
    languages: [String]
  ) {
    self.platform = platform
    self.file = file
    self.sourceLanguage = sourceLanguage
    self.entries = entries
    self.languages = languages
  }

  /// The specifier of an argument of a push, which is always a text.
  var textSpecifier: String {
    switch platform {
    case .ios: "%@"
    case .android: "%s"
    }
  }

  /// Returns whether phones of the system use a key of a rule: Android has no subtitle.
  func has(_ use: TextCatalog.KeyUse) -> Bool {
    platform == .ios || !use.name.hasPrefix("subtitle")
  }

  /// Returns the texts of a key in a language; without one in the language of Xcode's source, the key.
  func texts(of key: String, in language: String) -> [String]? {
    guard let entry = entries[key] else { return nil }
    // Android has no text for a name that a file lacks.
    let isKeyText = platform == .ios && language == sourceLanguage
    return entry.texts[language] ?? (isKeyText ? [key] : nil)
  }

  private static func entry(_ value: JSONValue) -> Entry {
    var entry = Entry()
    entry.isSame = value["shouldTranslate"] == .bool(false)
    guard case .object(let languages)? = value["localizations"] else { return entry }
    for (language, localization) in languages {
      var texts: [String] = []
      collect(localization, &texts)
      if !texts.isEmpty { entry.texts[language] = texts }
    }
    return entry
  }

  /// Collects the texts of a localization; those of a variable are counted by
  /// its name in the text.
  private static func collect(_ value: JSONValue, _ texts: inout [String]) {
    if case .string(let text)? = value["stringUnit"]?["value"], !text.isEmpty { texts.append(text) }
    guard case .object(let kinds)? = value["variations"] else { return }
    for case .object(let forms) in kinds.values {
      for form in forms.values { collect(form, &texts) }
    }
  }
}

extension JSONValue {
  fileprivate subscript(key: String) -> JSONValue? { value(at: [key]) }
}
