import Base
import RideCore
import RuleFiles
import SystemSupport

/// `ridepulse check`: validates the rule files.
enum Check: Command {
  static let form = CommandForm(
    name: "check", summary: "validate the rule files, without database or network",
    operands: [
      .init(
        name: "DIR", isOptional: true,
        help: "the rule directory (RIDEPULSE_SCHEDULES, or schedules)")
    ],
    options: [
      .init(
        name: "--against", value: "FILE", isRepeatable: true,
        help: "a Swift file of the app; compares its ActivityAttributes with the cards"),
      .init(
        name: "--strings", value: "FILE", isRepeatable: true,
        help:
          "a String Catalog of the app (.xcstrings), or strings.xml of an Android app; compares "
          + "its texts with the loc-keys"),
      .choice("--format", "FORMAT", CommandForm.words(CheckFormat.self), default: "text"),
    ],
    notes: [
      "Exit status 2 if it finds problems; warnings are not problems. sarif is for code scanning,",
      "github for the log of a workflow, whose findings then stand next to the lines of a pull request.",
    ])

  static func run(_ context: CommandContext) async throws -> ExitStatus {
    let path = RuleDirectoryChoice.path(context.arguments.operands.first, context.environment)
    var report = CheckReport(context.arguments.choice("--format") ?? .text, of: path)
    let status = try check(context, &report)
    report.end()
    return status
  }

  private static func check(
    _ context: CommandContext, _ report: inout CheckReport
  ) throws -> ExitStatus {
    let path = report.directory
    switch RuleDirectory.load(path) {
    case .failure(let problems):
      report.add(problems.problems, .ruleFile)
      return .foundProblems
    case .success(let rules):
      report.rules = rules
      warn(rules, context.environment, &report)
      let contractProblems = rules.contractProblems(in: path)
      report.add(contractProblems, .contract)
      if !contractProblems.isEmpty { return .foundProblems }
      report.sumUp("\(path): SHA-256 \(rules.ruleSet.digest), as the ledger names these rules")
      report.sumUp(
        "\(path): \(counted(rules.ruleCount, "rule")) in \(counted(rules.fileCount, "file")), "
          + "no problems")
      if context.arguments.operands.isEmpty, try !checkSecond(rules, context, &report) {
        return .foundProblems
      }
      let catalogs = context.arguments.all("--strings")
      let strings: ExitStatus =
        catalogs.isEmpty ? .done : try compare(rules, withStrings: catalogs, &report)
      let files = context.arguments.all("--against")
      let cards: ExitStatus = files.isEmpty ? .done : try compare(rules, with: files, &report)
      return strings == .done ? cards : strings
    }
  }

  /// Checks the directory for a share of the rides, if the environment names one.
  private static func checkSecond(
    _ rules: LoadedRules, _ context: CommandContext, _ report: inout CheckReport
  ) throws -> Bool {
    switch try RuleDirectories(nil, context.environment).trial(nextTo: rules) {
    case .failure(let problems):
      report.add(problems.problems, .ruleFile)
      return false
    case .success(let trial):
      guard let trial else { return true }
      report.sumUp(
        "\(trial.source.directory): \(counted(trial.rules.rules.count, "rule")) for "
          + "\(trial.share.text) of the rides, SHA-256 \(trial.rules.digest)")
      return true
    }
  }

  /// Reports what the rules and the environment allow and is probably a mistake.
  private static func warn(
    _ rules: LoadedRules, _ environment: [String: String], _ report: inout CheckReport
  ) {
    for lint in rules.lints(hasFCM: environment.namesFCM) {
      report.add(CheckFinding(lint, in: report.directory))
    }
    for (rule, receiver, variable) in PostVariables.lacking(rules.ruleSet, environment) {
      var lint = RuleLint(
        rule: rule.name, source: rule.source,
        text: "post: \(receiver) sends nothing where \(variable) is not set")
      lint.fileLocation = rules.fileLocation(ofRule: rule.name)
      report.add(CheckFinding(lint, .environment, in: report.directory))
    }
    let widgets = APNsVariables.widgetBundleIDs(environment)
    for (app, bundleID) in widgets.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
      report.add(
        CheckFinding(
          variable: APNsVariables.widgetBundleIDName(app),
          "cards go to \(bundleID).push-type.liveactivity; Apple requires the app's bundle ID "
            + "there, so unset this variable"))
    }
  }

  /// Compares the loc-keys of all rules with the texts of the apps: those of each system by
  /// themselves.
  private static func compare(
    _ rules: LoadedRules, withStrings files: [String], _ report: inout CheckReport
  ) throws -> ExitStatus {
    let contents = try files.map { (file: $0, bytes: try source($0, limit: catalogSizeLimit)) }
    let android = contents.filter { $0.file.hasSuffix(".xml") }
    var catalogs: [StringCatalog] = []
    var problems: [RuleProblem] = []
    for (file, bytes) in contents where !file.hasSuffix(".xml") {
      do { catalogs.append(try StringCatalog(file: file, bytes: bytes)) } catch {
        problems.append(error)
      }
    }
    var systems = catalogs.isEmpty ? [] : [catalogs]
    if !android.isEmpty {
      do { systems.append([try StringCatalog(android: android)]) } catch { problems.append(error) }
    }
    report.add(problems, .strings)
    if !problems.isEmpty { return .foundProblems }
    var status = ExitStatus.done
    for catalogs in systems {
      let comparison = CatalogComparison(rules, with: catalogs)
      for warning in comparison.warnings {
        report.add(CheckFinding(warning, .strings, in: report.directory))
      }
      report.add(comparison.problems, .strings)
      report.sumUp(
        "\(catalogs.map(\.file).joined(separator: ", ")): "
          + "\(counted(comparison.keyCount, "key")) of the rules compared, "
          + counted(comparison.problems.count, "problem"))
      if !comparison.problems.isEmpty { status = .foundProblems }
    }
    return status
  }

  /// The maximum size of a String Catalog: those of large apps have some megabytes.
  private static let catalogSizeLimit = 64 << 20

  /// Compares all cards with the structs that the app's files declare.
  private static func compare(
    _ loaded: LoadedRules, with files: [String], _ report: inout CheckReport
  ) throws -> ExitStatus {
    let rules = loaded.ruleSet
    let sources = SwiftSources(try files.map { ($0, try source($0)) })
    report.add(sources.problems, .appSource)
    if !sources.problems.isEmpty { return .foundProblems }
    let states = rules.statesOfCards
    var findings: [ContractFinding] = []
    var compared = 0
    for contract in rules.contracts {
      let cards = rules.cards(of: contract.typeName)
      let rule = loaded.contracts.first { $0.contract.typeName == contract.typeName }
      let comparison = ContractComparison(
        contract, rule: cards.map(\.source).joined(separator: ", "),
        fileLocation: { rule?.fileLocation(of: $0) }, states: states,
        startsByPush: cards.contains { !$0.startEvents.isEmpty }, with: sources)
      findings += comparison.findings
      if comparison.isCompared { compared += 1 }
    }
    for finding in findings { report.add(CheckFinding(finding)) }
    let problems = findings.count { $0.kind == .problem }
    let unchecked = findings.count { $0.kind == .unchecked }
    report.sumUp(
      "\(sources.fileNames): \(counted(compared, "card")) compared, "
        + "\(counted(problems, "problem")), \(unchecked) not checked")
    return problems > 0 || compared == 0 ? .foundProblems : .done
  }

  private static func source(
    _ path: String, limit: Int = RuleDirectory.fileSizeLimit
  ) throws -> [UInt8] {
    do {
      return try RegularFile.read(path, limit: limit)
    } catch {
      throw CommandFailure("\(path) can't be read: \(error)")
    }
  }
}

extension [String: String] {
  /// Whether a setting of FCM is in the environment.
  var namesFCM: Bool { contains { $0.key.hasPrefix("FCM_") && !$0.value.isEmpty } }
}
