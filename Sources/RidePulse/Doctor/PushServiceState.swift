import PostgresStore
import RideCore

/// The states of APNs and FCM, tried once for the databases of all cells.
struct PushServiceState {
  let apns: APNsState
  let fcm: FCMState
  /// Whether no app sends through APNs.
  private let isAndroidOnly: Bool

  init(
    _ environment: [String: String], _ rules: RuleState, _ databases: [DatabaseState]
  ) async {
    let lead = databases.lazy.compactMap(\.lead.value).first
    let phones = databases.flatMap { $0.phones.value ?? [] }
    // Broken rule files do not say which apps the file for all apps is for; phones do.
    let registered = Set(databases.flatMap { $0.androidPhones.value ?? [] }.map(\.app))
    fcm = await FCMState(
      FCMSettings(environment), apps: rules.ruleSet == nil ? registered : rules.apps, lead: lead)
    isAndroidOnly =
      fcm.isConfigured
      && !environment.contains { $0.key.hasPrefix("APNS_") && !$0.value.isEmpty }
    apns =
      isAndroidOnly
      ? APNsState()
      : await APNsProbe(environment: environment, lead: lead)
        .probes(isUsed: Set(phones.compactMap(\.environment)))
  }

  /// The results about APNs, which are the same for each database.
  var results: [CheckResult] { isAndroidOnly ? [] : APNsCheck.results(apns) }
}
