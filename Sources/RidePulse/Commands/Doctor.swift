import PostgresStore
import RideCore

/// `ridepulse doctor`: checks everything that the service needs.
enum Doctor: Command {
  private enum Format: String, CaseIterable {
    case table, json
  }

  static let form = CommandForm(
    name: "doctor", summary: "look at database, key, APNs and rules: each OK, or what mends it",
    options: [
      .init(
        name: "--format", value: "FORMAT", choices: CommandForm.words(Format.self),
        help: "table or json (table)")
    ],
    notes: [
      "It looks at the environment that serve would see, and ends within two minutes, whatever hangs.",
      "A push to a made-up token of zeros asks APNs whether key and topics are right; no phone gets it.",
      "Exit status 2 where something fails; warnings are no failures.",
    ])

  static func run(_ context: CommandContext) async throws -> ExitStatus {
    let format = try form.choice(
      context.arguments.value("--format") ?? "table", "format", of: Format.self)
    let diagnosis = await diagnosis(context.environment)
    let hasColour = Terminal.hasColour(context.environment)
    switch format {
    case .table:
      Terminal.print(styled: DoctorTable(diagnosis: diagnosis, hasColour: hasColour).text)
    case .json: Terminal.print(json: DoctorJSON.text(diagnosis))
    }
    return diagnosis.status
  }

  private static func diagnosis(_ environment: [String: String]) async -> Diagnosis {
    let rules = RuleState(environment)
    let database = await DatabaseProbe(environment: environment).probes()
    let phones = database.phones.value ?? []
    let apns = await APNsProbe(environment: environment, lead: database.lead.value)
      .probes(isUsed: Set(phones.compactMap(\.environment)))
    let standard = (try? APNsVariables.defaultEnvironment(environment)) ?? .production
    return Diagnosis(
      findings: DatabaseCheck.findings(database) + APNsCheck.findings(apns)
        + RuleCheck.findings(
          rules, bundleIDs: apns.bundleIDs, phones: database.phones, standard: standard))
  }
}
