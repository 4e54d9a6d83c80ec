import Base
import RideCore

/// Reads the files of one directory: first the states and events of all files and the strings, then
/// the rules.
struct RuleLoader {
  /// The problems of files that could not be read at all.
  let unread: [RuleProblem]

  private struct File {
    let diagnostics: Diagnostics
    let fields: Fields
  }

  func load(
    _ files: [(name: String, bytes: [UInt8])], strings: [(name: String, bytes: [UInt8])] = []
  ) -> Result<LoadedRules, RuleProblems> {
    let texts = TextCatalog()
    let sorted = files.sorted { $0.name < $1.name }
    let diagnostics = sorted.map { Diagnostics(file: $0.name, texts: texts) }
    let readable = zip(sorted, diagnostics).compactMap { Self.file($0.bytes, diagnostics: $1) }
    var vocabulary = Vocabulary(isComplete: unread.isEmpty && readable.count == files.count)
    for file in readable { vocabulary.add(file.fields, diagnostics: file.diagnostics) }
    let attributes = Self.attributes(readable)
    for diagnostics in diagnostics { diagnostics.attributes = attributes }
    let (defaults, apps) = Self.defaults(readable)
    texts.defaultLocale = defaults.locale
    let stringProblems = Self.read(strings, into: texts, attributes)
    texts.isComplete = texts.isComplete && unread.isEmpty
    var locations = RuleLocations()
    let (rules, contracts) = Self.rules(readable, vocabulary, defaults, apps, &locations)
    let problems = unread + diagnostics.flatMap(\.problems) + stringProblems
    guard problems.isEmpty else {
      // The tree builder and libyaml may both have reported the same problem.
      return .failure(RuleProblems(problems: Set(problems).sorted()))
    }
    let ruleSet = RuleSet(
      activeStates: Set(vocabulary.active), finalStates: Set(vocabulary.final),
      events: vocabulary.declared, rules: rules, defaults: defaults, attributes: attributes,
      digest: RulesDigest.of(files, strings: strings))
    func file(with key: String) -> String? {
      readable.first { $0.fields[key] != nil }?.diagnostics.file
    }
    return .success(
      LoadedRules(
        ruleSet: ruleSet, contracts: contracts, fileCount: files.count,
        statesFile: file(with: "states"),
        eventsFile: file(with: "events"), translationLints: TranslationLint(texts).lints,
        keyUses: texts.keyUses, locations: locations))
  }

  private static func file(_ bytes: [UInt8], diagnostics: Diagnostics) -> File? {
    root(of: bytes, expected: alternatives(KeyTable.file.names), diagnostics: diagnostics)
      .flatMap { Fields($0, as: KeyTable.file, diagnostics: diagnostics) }
      .map { File(diagnostics: diagnostics, fields: $0) }
  }

  private static func root(
    of bytes: [UInt8], expected: String, diagnostics: Diagnostics
  ) -> YAMLNode? {
    YAMLNode.root(
      of: bytes, expected: expected + ", or a name that starts with \"_\" to skip it",
      diagnostics: diagnostics)
  }

  /// Reads the files of `strings` and returns their problems.
  private static func read(
    _ files: [(name: String, bytes: [UInt8])], into texts: TextCatalog,
    _ attributes: DeclaredAttributes?
  ) -> [RuleProblem] {
    let sorted = files.sorted { $0.name < $1.name }
    let diagnostics = sorted.map { Diagnostics(file: $0.name, texts: texts) }
    for diagnostics in diagnostics { diagnostics.attributes = attributes }
    let roots = zip(sorted, diagnostics).compactMap { file, diagnostics in
      root(of: file.bytes, expected: "a map of key to text", diagnostics: diagnostics)
        .map { (root: $0, diagnostics: diagnostics) }
    }
    StringsFile.read(roots, into: texts)
    let problems = diagnostics.flatMap(\.problems)
    texts.isComplete = problems.isEmpty
    return problems
  }

  /// Returns the first file with a key that one file only may have; reports it in the others.
  private static func only(_ key: String, _ files: [File]) -> (Field, Diagnostics)? {
    var first: (field: Field, diagnostics: Diagnostics)?
    for file in files {
      guard let field = file.fields[key] else { continue }
      if let first {
        file.diagnostics.report(
          field.location, "\(key) for the second time",
          expected: "them in one file only (the first are at "
            + "\(first.diagnostics.file):\(first.field.location))")
      } else {
        first = (field, file.diagnostics)
      }
    }
    return first
  }

  private static func defaults(_ files: [File]) -> (RuleDefaults, AppDefaults) {
    var apps = AppDefaults()
    guard let (field, diagnostics) = only("defaults", files),
      let fields = Fields(field.node, as: KeyTable.defaults, diagnostics: diagnostics)
    else { return (RuleDefaults(), apps) }
    let defaults = LimitsDecoder(diagnostics: diagnostics).defaults(fields)
    if let field = fields["apps"] { apps = AppDefaults(field, diagnostics: diagnostics) }
    return (defaults, apps)
  }

  /// Decodes `attributes`; without them, or if they could not be decoded, a rule may name any.
  private static func attributes(_ files: [File]) -> DeclaredAttributes? {
    only("attributes", files).flatMap { field, diagnostics in
      AttributesDecoder(diagnostics: diagnostics).attributes(field)
    }
  }

  private static func rules(
    _ files: [File], _ vocabulary: Vocabulary, _ defaults: RuleDefaults, _ apps: AppDefaults,
    _ locations: inout RuleLocations
  ) -> ([Rule], [RuleContract]) {
    var rules: [Rule] = []
    var contracts: [RuleContract] = []
    var taken: [String: String] = [:]
    for file in files {
      guard let node = file.fields["rules"]?.node else { continue }
      guard case .sequence(let entries) = node.kind else {
        file.diagnostics.reportType(
          of: node, for: "rules", expected: "a list whose entries start with \"- name:\"")
        continue
      }
      for entry in entries {
        let texts = file.diagnostics.texts
        let counts = texts.counts
        let draft = RuleDecoder(
          diagnostics: file.diagnostics, vocabulary: vocabulary, defaults: defaults
        ).draft(apps.applied(to: entry))
        texts.name(draft.name?.text, since: counts)
        if let rule = draft.rule {
          Self.add(rule, at: draft.name, to: &rules, file.diagnostics)
          locations.add(rule.name, entry, file: file.diagnostics.file)
          EmitCircle.report(rule, at: draft.name, among: rules, file.diagnostics)
          let contract = RuleContract(rule, file: file.diagnostics.file, locations: draft.locations)
          if let contract { contracts.append(contract) }
        }
        guard let name = draft.name else { continue }
        if let first = taken[name.text] {
          file.diagnostics.report(
            name.location, "the rule name \(quoted(name.text)) for the second time",
            expected: "a name of its own (the first is at \(first))")
        } else {
          taken[name.text] = "\(file.diagnostics.file):\(name.location)"
        }
      }
    }
    return (rules, contracts)
  }

  /// Adds a rule and reports what an app can't have besides its other rules: a second card rule,
  /// because an activity is matched with its card rule by app alone, and pushes that need another
  /// token, because an app's phones are registered with one kind of token.
  private static func add(
    _ rule: Rule, at name: LocatedWord?, to rules: inout [Rule], _ diagnostics: Diagnostics
  ) {
    if rule.when == .life, let name,
      let first = rules.first(where: { $0.when == .life && $0.app == rule.app })
    {
      diagnostics.report(
        name.location, "the second live-activity rule of app \(rule.app)",
        expected: "one for each app: \(first.name) at \(first.source) is the other")
    }
    let target = rule.what.appExtension
    for app in rule.apps where rule.when != .life && rule.what.isForPhones {
      guard let name,
        let first = rules.first(where: {
          $0.when != .life && $0.apps.contains(app) && $0.what.isForPhones
        }),
        first.what.appExtension != target
      else { continue }
      let example = target.map { ", such as \(app)_\($0.rawValue)" } ?? ""
      diagnostics.report(
        name.location,
        "push type \(rule.what.pushType.rawValue) for app \(app), which gets push type "
          + "\(first.what.pushType.rawValue) by \(first.name) at \(first.source)",
        expected: "another app\(example): each of the two needs a token of its own, see Tokens in "
          + "docs/rules.md")
    }
    rules.append(rule)
  }
}
