import PushClient
import RideCore

/// The FCM settings of the environment: service accounts, endpoint and CA; no account's file is
/// read.
///
/// docs/decisions/0100-fcm-variables.md gives the reasons for their form.
struct FCMVariables: Hashable, Sendable {
  /// A variable and the file that it names.
  struct Source: Hashable, Sendable {
    var variable: String
    var path: String
  }

  /// The file of apps that have none of their own.
  private(set) var general: Source?
  /// The files of apps that have one of their own.
  private(set) var own: [App: Source]
  /// The apps of the rules, all of which the general file is for.
  private var ofRules: [App] = []
  /// Other than Google's.
  private(set) var endpoint: APNsEndpoint?
  private(set) var caFile: String?

  static let generalName = "FCM_SERVICE_ACCOUNT_PATH"

  static func name(_ app: App) -> String { "FCM_\(app.variableName)_SERVICE_ACCOUNT_PATH" }

  /// - Throws: `CommandFailure` that names the invalid variable.
  init(_ environment: [String: String]) throws(CommandFailure) {
    general = environment.nonEmpty(Self.generalName).map {
      Source(variable: Self.generalName, path: $0)
    }
    own = Self.own(environment)
    endpoint = try ServiceVariables.endpoint(environment, "FCM_URL")
    caFile = try ServiceVariables.caFile(environment, "FCM_CA_FILE")
  }

  private static func own(_ environment: [String: String]) -> [App: Source] {
    ServiceVariables.ofApps(environment, "FCM_", "_SERVICE_ACCOUNT_PATH")
      .mapValues { Source(variable: $0.variable, path: $0.value) }
  }

  /// Whether no service account is named: then nothing is sent to FCM, and no file is read.
  var isEmpty: Bool { general == nil && own.isEmpty }

  /// The variables that name files, whether or not a rule needs them.
  var sources: [Source] { (general.map { [$0] } ?? []) + Array(own.values) }

  /// Returns the same settings by the apps' own names, with the general file for all of them.
  func spelled(as apps: [App]) -> FCMVariables {
    var variables = self
    variables.own = ServiceVariables.spelled(own, as: apps)
    variables.ofRules = apps
    return variables
  }

  /// The apps whose Android phones can be sent to, in the order of their names.
  var apps: [App] {
    Set(own.keys).union(general == nil ? [] : ofRules).sorted { $0.rawValue < $1.rawValue }
  }

  /// Returns the apps of rules that have a service account, whatever else the environment has.
  static func apps(_ environment: [String: String], of apps: [App]) -> Set<App> {
    if environment.nonEmpty(generalName) != nil { return Set(apps) }
    return Set(ServiceVariables.spelled(own(environment), as: apps).keys)
  }

  /// Returns the file of an app; nil if it has none.
  func source(of app: App) -> Source? { own[app] ?? general }

  /// Sets the endpoint and the CA of the client's configuration, if the environment names others.
  func apply(to configuration: inout APNsConfiguration) {
    if let endpoint { configuration.fcm = endpoint }
    configuration.fcmCAFile = caFile
  }

  /// The variables of files that no rule needs.
  var warnings: [String] {
    if ofRules.isEmpty { return [] }
    return own.filter { !ofRules.contains($0.key) }.map(\.value.variable).sorted().map {
      "\($0) has no effect: no rule is for an app of that name"
    }
  }
}
