import Base
package import RideCore

/// Compares the loc-keys of rules with the app's own texts.
package struct CatalogComparison {
  /// What a phone would show wrongly: a key instead of a text, or a text without its arguments.
  package private(set) var problems: [RuleProblem] = []
  package private(set) var warnings: [RuleLint] = []
  /// The number of different keys.
  package private(set) var keyCount = 0

  private let catalogs: [StringCatalog]

  /// - Parameter catalogs: those of one system.
  package init(_ rules: LoadedRules, with catalogs: [StringCatalog]) {
    self.catalogs = catalogs
    let known = Set(catalogs.flatMap(\.entries.keys)).sorted()
    var warned: Set<String> = []
    let uses = rules.keyUses.filter { use in catalogs.contains { $0.has(use) } }
    for use in uses {
      guard let catalog = catalogs.first(where: { $0.entries[use.key] != nil }) else {
        report(
          use, "\(use.name) \(quoted(use.key)) is not in \(files)",
          expected: "a key of the app's texts: "
            + (catalog(of: .android) == nil
              ? "phones would show the key itself" : "Android phones would not show the text"),
          nearest: nearestWord(to: use.key, among: known))
        continue
      }
      compare(use, with: catalog)
      if warned.insert(use.key).inserted { warnOfMissing(use, catalog) }
    }
    keyCount = Set(uses.map(\.key)).count
    problems = Array(Set(problems)).sorted()
  }

  private func catalog(of platform: Platform) -> StringCatalog? {
    catalogs.first { $0.platform == platform }
  }

  private var files: String { alternatives(catalogs.map(\.file)) }

  private mutating func compare(_ use: TextCatalog.KeyUse, with catalog: StringCatalog) {
    let arguments = use.name.replacing("loc-key", with: "loc-args")
    var most = 0
    for language in catalog.languages {
      for text in catalog.texts(of: use.key, in: language) ?? [] {
        let specifiers = FormatSpecifiers(text)
        most = max(most, specifiers.count)
        let other = specifiers.arguments.sorted { $0.key < $1.key }
          .first { $0.value != catalog.textSpecifier }
        if let other {
          report(
            use, "\(quoted(use.key)) takes \(other.value) as argument \(other.key) in \(language)",
            expected: "\(catalog.textSpecifier) in \(catalog.file): the arguments of a push are "
              + "texts")
        } else if specifiers.count > use.argumentCount {
          report(
            use,
            "\(quoted(use.key)) takes \(counted(specifiers.count)) in \(language), \(arguments) has "
              + "\(use.argumentCount)",
            expected: "as many in both")
        }
      }
    }
    if most < use.argumentCount {
      report(
        use,
        "\(arguments) has \(counted(use.argumentCount)), \(quoted(use.key)) takes \(most) in every "
          + "language",
        expected: "as many in both")
    }
  }

  private mutating func warnOfMissing(_ use: TextCatalog.KeyUse, _ catalog: StringCatalog) {
    if catalog.entries[use.key]?.isSame == true { return }
    let missing = catalog.languages.filter { catalog.texts(of: use.key, in: $0) == nil }
    if missing.isEmpty { return }
    warnings.append(
      RuleLint(
        rule: use.rule, at: FileLocation(use.file, use.location),
        text:
          "\(use.key) has no text in \(missing.joined(separator: ", ")) of \(catalog.file): those "
          + "phones show that of \(catalog.sourceLanguage)"))
  }

  private mutating func report(
    _ use: TextCatalog.KeyUse, _ found: String, expected: String, nearest: String? = nil
  ) {
    problems.append(
      RuleProblem(
        file: use.file, location: use.location, found: found, expected: expected, nearest: nearest))
  }

  private func counted(_ count: Int) -> String { "\(count) argument\(count == 1 ? "" : "s")" }
}
