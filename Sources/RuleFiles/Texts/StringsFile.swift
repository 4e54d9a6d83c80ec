import Base
import RideCore

/// Reads `strings/<locale>.yaml`: a map of key to text; nested maps join their keys with dots.
struct StringsFile {
  let diagnostics: Diagnostics
  private let templates: TemplateDecoder
  private let locale: String

  /// Nil if the file's name is not a locale, which is reported.
  init?(_ diagnostics: Diagnostics) {
    self.diagnostics = diagnostics
    templates = TemplateDecoder(diagnostics: diagnostics)
    let name = diagnostics.file.split(separator: "/").last ?? ""
    locale = String(name.dropLast(".yaml".count))
    if TemplateDecoder.isLocale(locale) { return }
    diagnostics.report(
      SourceLocation(line: 1, column: 1), "the strings of \(quoted(locale))",
      expected: "a locale as the file's name, such as de.yaml, pt-BR.yaml or default.yaml")
    return nil
  }

  /// Adds the strings of all files to the catalog, and reports two files for one locale.
  static func read(_ files: [(root: YAMLNode, diagnostics: Diagnostics)], into texts: TextCatalog) {
    var first: [String: String] = [:]
    for (root, diagnostics) in files {
      guard let file = StringsFile(diagnostics) else { continue }
      let tag = LocaleTag(file.locale)?.text ?? file.locale
      if let other = first.updateValue(diagnostics.file, forKey: tag) {
        diagnostics.report(
          SourceLocation(line: 1, column: 1), "strings of the locale \(tag) for the second time",
          expected: "them in one file only (the first is \(other))")
        continue
      }
      file.read(root, into: texts)
    }
  }

  private func read(_ root: YAMLNode, into texts: TextCatalog) {
    var seen: [String: SourceLocation] = [:]
    read(root, below: "", into: texts, &seen)
  }

  private func read(
    _ node: YAMLNode, below path: String, into texts: TextCatalog,
    _ seen: inout [String: SourceLocation]
  ) {
    guard case .mapping(let pairs) = node.kind else {
      return diagnostics.reportType(
        of: node, for: path.isEmpty ? "the file" : path,
        expected: "a map of key to text, such as arrived: Your driver is here")
    }
    for pair in pairs {
      let key = path.isEmpty ? pair.key : "\(path).\(pair.key)"
      if !Self.isKey(pair.key) {
        diagnostics.report(
          pair.keyLocation, "the key \(quoted(pair.key))",
          expected: "letters, digits, _, - and ., such as arrived.title")
        continue
      }
      if case .mapping = pair.value.kind {
        read(pair.value, below: key, into: texts, &seen)
      } else if let first = seen.updateValue(pair.keyLocation, forKey: key) {
        diagnostics.report(
          pair.keyLocation, "the string \(quoted(key)) for the second time",
          expected: "it once (the first is at \(first))")
      } else if let text = templates.text(pair.value, for: shortened(key)) {
        texts.add(key, text, locale: locale)
        if let entry = LocalizedText([(locale, text)]) {
          texts.record(
            TextCatalog.Entry(
              file: diagnostics.file, location: pair.keyLocation, name: "strings.\(key)",
              text: entry))
        }
      }
    }
  }

  /// Returns whether a key can be named in a placeholder.
  private static func isKey(_ key: String) -> Bool {
    !key.isEmpty && !key.hasPrefix(".") && !key.hasSuffix(".") && !key.contains("..")
      && key.allSatisfy { $0.isLetter || $0.isNumber || "._-".contains($0) }
  }
}
