import PostgresStore
import RideCore

/// `ridepulse doctor`: checks everything that the service needs.
enum Doctor: Command {
  static let form = CommandForm(
    name: "doctor",
    summary: "check database, key, APNs and rules, and print what fixes each problem",
    options: [.format],
    notes: [
      "It reads the environment that serve reads, and ends within two minutes even if a server hangs.",
      "A push to a token of zeros tests key and topics at APNs; no phone receives it.",
      "Exit status 2 if a check fails; warnings are not failures.",
    ],
    role: .reader)

  static func run(_ context: CommandContext) async throws -> ExitStatus {
    guard let file = try CellFile(context.environment) else {
      let diagnosis = await diagnosis(context.environment)
      print(diagnosis, context)
      return diagnosis.status
    }
    return await DoctorOfCells(cells: file.cells, context: context).run()
  }

  static func print(_ diagnosis: Diagnosis, _ context: CommandContext) {
    let hasColour = Terminal.hasColour(context.environment)
    switch context.arguments.choice("--format") ?? OutputFormat.table {
    case .table:
      Terminal.print(styled: DoctorTable(diagnosis: diagnosis, hasColour: hasColour).text)
    case .json: Terminal.print(json: diagnosis.json)
    }
  }

  private static func diagnosis(_ environment: [String: String]) async -> Diagnosis {
    let rules = RuleState(environment)
    let database = await databaseState(environment, rules)
    let services = await PushServiceState(environment, rules, [database])
    return Diagnosis(
      results: DatabaseCheck.results(database) + services.results
        + results(database, rules, services, environment))
  }

  static func databaseState(
    _ environment: [String: String], _ rules: RuleState
  ) async -> DatabaseState {
    await DatabaseProbe(
      environment: environment, apps: rules.apps,
      projects: FCMSettings(environment).projects(of: rules.apps)
    ).probes()
  }

  /// Returns the results about what the rules need of a database and its phones.
  static func results(
    _ database: DatabaseState, _ rules: RuleState, _ services: PushServiceState,
    _ environment: [String: String]
  ) -> [CheckResult] {
    let standard = (try? APNsVariables.defaultEnvironment(environment)) ?? .production
    return FCMCheck.results(services.fcm, phones: database.androidPhones)
      + RuleCheck.results(
        rules, bundleIDs: services.apns.bundleIDs, phones: database.phones, standard: standard,
        androidApps: services.fcm.apps)
      + WordCheck.results(database.words, rules.vocabulary)
      + IdleRuleCheck.results(database.reports, rules.ruleSet)
      + AttributeCheck.results(database.attributes, rules.ruleSet?.attributes)
      + CardCheck.results(database.cardTypes, database.startTokens, rules.ruleSet)
      + FieldCheck.results(
        database.appVersions, rules.ruleSet, rules.releases, problem: rules.lockProblem)
  }
}
