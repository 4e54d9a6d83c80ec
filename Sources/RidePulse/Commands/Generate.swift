import Base
import Foundation
import RideCore
import RuleFiles
import SystemSupport

/// `ridepulse generate`: writes the app's types for the data of cards, and messages for its tests.
enum Generate: Command {
  static let form = CommandForm(
    name: "generate", summary: "write the app's Swift or Kotlin types for cards, and contract.lock",
    operands: [.choice("WHAT", CommandForm.words(Language.self) + [fixtures])],
    options: [
      .init(name: "--app", value: "APP", help: "this app's cards only; of fixtures, its pushes"),
      .init(name: "--rule", value: "NAME", help: "this rule's card only; of fixtures, its pushes"),
      .init(
        name: "--package", value: "NAME",
        help: "the package of the Kotlin files (\(KotlinSource.standardPackage))"),
      .init(
        name: "--access", value: "ACCESS", choices: CommandForm.words(GeneratedAccess.self),
        help: "public or internal (of Swift internal, of Kotlin public)"),
      .init(
        name: "--story", value: "STATES|FILE",
        help: "of fixtures: a story, or states such as requested,driver_assigned@2m,driver_arrived"),
      .init(
        name: "--from", value: "TIME", help: "of fixtures: when the ride begins (a Monday in 2026)"),
      .init(
        name: "--module", value: "NAME",
        help: "of fixtures: the module of the Swift types, which the XCTest imports"),
      .init(
        name: "--output", value: "FILE",
        help: "output file (standard output); of fixtures, the folder"),
      .schedules,
    ],
    notes: [
      "The types decode each card that the rules send; docs/app.md and docs/android.md describe",
      "them. Fields are recorded in contract.lock in the rule directory: commit it, and check refuses",
      "changes that apps in the field can't decode. Such a change is refused here too: exit status 2.",
      "fixtures writes each push of a story: an .apns file for xcrun simctl push, or FCM's message; the",
      "data of cards as JSON; and tests in Swift and Kotlin that decode it with the generated types.",
    ])

  private static let fixtures = "fixtures"

  static func run(_ context: CommandContext) async throws -> ExitStatus {
    let arguments = context.arguments
    let directory = RuleDirectoryChoice.path(arguments.value("--schedules"), context.environment)
    let rules = try RuleDirectoryChoice.load(arguments.value("--schedules"), context.environment)
    if arguments.operands.first == fixtures {
      try writeFixtures(by: rules.ruleSet, context)
      return .done
    }
    let language = try Language(arguments)
    let chosen = try chosen(rules, arguments)
    var lock =
      try refusing { () throws(RuleProblems) in try ContractLock.load(directory) }
      ?? ContractLock()
    let old = lock.text
    let names = Set(chosen.map(\.contract.typeName))
    // All rules with these types: a type is generated as its first rule has it.
    try refuse(rules.contracts.filter { names.contains($0.contract.typeName) }, lock)
    let contracts = rules.ruleSet.contracts.filter { names.contains($0.typeName) }
    lock.record(contracts)
    let source = try language.source(contracts, of: rules.ruleSet, arguments)
    guard lock.text != old else {
      try write(source, arguments)
      return .done
    }
    // The lock first: a type that the lock does not have must not reach an app.
    let path = ContractLock.path(in: directory)
    let before = FileManager.default.contents(atPath: path)
    try write(Data(lock.text.utf8), to: path)
    do {
      try write(source, arguments)
    } catch {
      if let before {
        try write(before, to: path)
      } else {
        try? FileManager.default.removeItem(atPath: path)
      }
      throw error
    }
    return .done
  }

  private static func write(_ source: String, _ arguments: Arguments) throws {
    let output = try PreviewOutput(path: arguments.value("--output"), readers: .usual)
    try output.write(source)
    try output.close()
  }

  private static func chosen(
    _ rules: LoadedRules, _ arguments: Arguments
  ) throws -> [RuleContract] {
    if rules.contracts.isEmpty, arguments.value("--rule") == nil {
      throw CommandFailure("no rule has a live-activity, so there is no type to write")
    }
    let apps = Dictionary(
      rules.ruleSet.rules.map { ($0.name, $0.apps.map(\.rawValue)) }, uniquingKeysWith: { $0 + $1 })
    var chosen = rules.contracts
    if let app = arguments.value("--app") {
      chosen = chosen.filter { apps[$0.rule]?.contains(app) ?? false }
      if chosen.isEmpty {
        let known = Set(rules.contracts.flatMap { apps[$0.rule] ?? [] }).sorted()
        throw arguments.error(
          "no card of the app \(app)\(suggestion(for: app, among: known)); these have one: "
            + known.joined(separator: ", "))
      }
    }
    guard let name = arguments.value("--rule") else { return chosen }
    let ofRule = chosen.filter { $0.rule == name }
    if !ofRule.isEmpty { return ofRule }
    if let app = arguments.value("--app"), rules.contracts.contains(where: { $0.rule == name }) {
      throw arguments.error("the rule \(name) is not one of the app \(app)")
    }
    if rules.ruleSet.rules.contains(where: { $0.name == name }) {
      let others = chosen.map(\.rule).joined(separator: ", ")
      throw arguments.error(
        "the rule \(name) has no live-activity" + (others.isEmpty ? "" : "; these have: \(others)"))
    }
    throw arguments.error(
      "unknown rule \(name)\(suggestion(for: name, among: rules.ruleSet.rules.map(\.name)))")
  }

  /// Throws if two rules disagree, if two types would have one name, or if apps in the field can't
  /// decode what has changed.
  private static func refuse(_ contracts: [RuleContract], _ lock: ContractLock) throws {
    let problems =
      RuleContract.disagreements(of: contracts) + RuleContract.sameNames(of: contracts)
      + contracts.flatMap { ContractChanges(of: $0, since: lock).breaking }
    if problems.isEmpty { return }
    throw failure(Set(problems).sorted().map(\.description).joined(separator: "\n"))
  }

  private static func refusing<Value>(_ body: () throws(RuleProblems) -> Value) throws -> Value {
    do {
      return try body()
    } catch {
      throw failure(error.description)
    }
  }

  private static func failure(_ problems: String) -> CommandFailure {
    CommandFailure("nothing was written:\n\(problems)", status: .foundProblems)
  }

  static func write(_ data: Data, to path: String) throws {
    do throws(OutputFile.Failure) {
      let file = try OutputFile(path: path, readers: .usual)
      try file.write(Array(data))
      try file.commit()
    } catch {
      throw CommandFailure("\(path) can't be written: \(error)")
    }
  }
}
