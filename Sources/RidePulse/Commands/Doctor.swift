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
    ])

  static func run(_ context: CommandContext) async throws -> ExitStatus {
    let diagnosis = await diagnosis(context.environment)
    let hasColour = Terminal.hasColour(context.environment)
    switch context.arguments.choice("--format") ?? OutputFormat.table {
    case .table:
      Terminal.print(styled: DoctorTable(diagnosis: diagnosis, hasColour: hasColour).text)
    case .json: Terminal.print(json: diagnosis.json)
    }
    return diagnosis.status
  }

  private static func diagnosis(_ environment: [String: String]) async -> Diagnosis {
    let rules = RuleState(environment)
    let settings = FCMSettings(environment)
    let database = await DatabaseProbe(
      environment: environment, apps: rules.apps, projects: settings.projects(of: rules.apps)
    ).probes()
    let phones = database.phones.value ?? []
    // Broken rule files do not say which apps the file for all apps is for; phones do.
    let registered = Set((database.androidPhones.value ?? []).map(\.app))
    let fcm = await FCMState(
      settings, apps: rules.ruleSet == nil ? registered : rules.apps, lead: database.lead.value)
    let isAndroidOnly =
      fcm.isConfigured
      && !environment.contains { $0.key.hasPrefix("APNS_") && !$0.value.isEmpty }
    let apns =
      isAndroidOnly
      ? APNsState()
      : await APNsProbe(environment: environment, lead: database.lead.value)
        .probes(isUsed: Set(phones.compactMap(\.environment)))
    let standard = (try? APNsVariables.defaultEnvironment(environment)) ?? .production
    return Diagnosis(
      results: DatabaseCheck.results(database)
        + (isAndroidOnly ? [] : APNsCheck.results(apns))
        + FCMCheck.results(fcm, phones: database.androidPhones)
        + RuleCheck.results(
          rules, bundleIDs: apns.bundleIDs, phones: database.phones, standard: standard,
          androidApps: fcm.apps)
        + WordCheck.results(database.words, rules.vocabulary)
        + IdleRuleCheck.results(database.reports, rules.ruleSet)
        + AttributeCheck.results(database.attributes, rules.ruleSet?.attributes)
        + CardCheck.results(database.cardTypes, database.startTokens, rules.ruleSet)
        + FieldCheck.results(
          database.appVersions, rules.ruleSet, rules.releases, problem: rules.lockProblem))
  }
}
