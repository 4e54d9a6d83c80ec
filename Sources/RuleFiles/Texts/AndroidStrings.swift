import Base
internal import RideCore

/// The strings of an Android app: the `<string>`s of `res/values/strings.xml` and its translations.
///
/// Plurals and arrays are left out: FCM can name neither.
struct AndroidStrings {
  /// The language of the folder, such as `de` of `values-de`; `values` for the app's own.
  let language: String
  /// The text of each name, with its tags left out.
  private(set) var texts: [String: String] = [:]

  static let ownLanguage = "values"

  /// - Throws: `RuleProblem` if the file has no resources.
  init(file: String, bytes: [UInt8]) throws(RuleProblem) {
    let folder = file.split(separator: "/").dropLast().last.map(String.init) ?? ""
    let prefix = Self.ownLanguage + "-"
    language = folder.hasPrefix(prefix) ? String(folder.dropFirst(prefix.count)) : Self.ownLanguage
    var rest = Self.withoutComments(String(decoding: bytes, as: UTF8.self))[...]
    guard rest.contains("<resources") else {
      throw RuleProblem(
        file: file, location: nil, found: "no resources",
        expected: "the strings of an Android app, such as res/values/strings.xml")
    }
    while let start = rest.firstRange(of: "<string ") {
      rest = rest[start.upperBound...]
      guard let end = rest.firstIndex(of: ">") else { break }
      let attributes = rest[..<end]
      rest = rest[rest.index(after: end)...]
      guard !attributes.hasSuffix("/"), let close = rest.firstRange(of: "</string>") else {
        continue
      }
      if let name = Self.name(in: attributes) {
        texts[name] = Self.withoutTags(rest[..<close.lowerBound])
      }
      rest = rest[close.upperBound...]
    }
  }

  /// Returns the value of `name`, in either kind of quotes.
  private static func name(in attributes: Substring) -> String? {
    guard let key = attributes.firstRange(of: "name=") else { return nil }
    let value = attributes[key.upperBound...]
    guard let quote = value.first, quote == "\"" || quote == "'" else { return nil }
    return String(value.dropFirst().prefix { $0 != quote })
  }

  private static func withoutComments(_ text: String) -> String {
    var kept = ""
    var rest = text[...]
    while let start = rest.firstRange(of: "<!--") {
      kept += rest[..<start.lowerBound]
      guard let end = rest[start.upperBound...].firstRange(of: "-->") else { return kept }
      rest = rest[end.upperBound...]
    }
    return kept + rest
  }

  /// `<xliff:g example="9%">%1$s</xliff:g>` marks an argument: only what is within it is the text.
  private static func withoutTags(_ text: Substring) -> String {
    var isTag = false
    return String(
      text.filter { character in
        if character == "<" { isTag = true }
        defer { if character == ">" { isTag = false } }
        return !isTag
      })
  }
}

extension StringCatalog {
  /// Creates the catalog of an Android app from the files of its languages.
  ///
  /// - Throws: `RuleProblem` for the first file that has no resources.
  package init(android files: [(file: String, bytes: [UInt8])]) throws(RuleProblem) {
    var entries: [String: Entry] = [:]
    var languages: Set<String> = []
    for (file, bytes) in files {
      let strings = try AndroidStrings(file: file, bytes: bytes)
      languages.insert(strings.language)
      for (name, text) in strings.texts {
        entries[name, default: Entry()].texts[strings.language, default: []].append(text)
      }
    }
    self.init(
      platform: .android, file: files.map(\.file).joined(separator: ", "),
      sourceLanguage: AndroidStrings.ownLanguage, entries: entries, languages: languages.sorted())
  }
}
