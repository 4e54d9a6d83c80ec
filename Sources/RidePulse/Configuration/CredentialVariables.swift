import Base
import PushClient
import RideCore

/// The keys and certificates that the environment names, by lane; no file is read.
///
/// docs/decisions/0042-keys-of-a-lane.md gives the reasons for the order of precedence.
struct CredentialVariables: Sendable {
  /// The sources of one lane's credentials.
  struct Source: Hashable, Sendable {
    var key: KeySource?
    var certificate: CertificateSource?
  }

  /// The source of each lane that has one.
  private(set) var lanes: [Credentials.Lane: Source] = [:]

  /// Variables that contradict each other or are missing; the service does not start with any.
  private(set) var problems: [String] = []

  /// Variables that look like credentials and have no effect.
  private(set) var warnings: [String] = []

  private let environment: [String: String]

  /// Finds each app's credentials in both environments.
  ///
  /// - Parameters:
  ///   - apps: The apps that have a bundle ID.
  ///   - standard: The environment of phones whose row names none. Its lanes need a credential.
  ///   - isOptional: Whether the service may run without APNs.
  init(
    _ environment: [String: String], apps: [App], standard: APNsEnvironment,
    isOptional: Bool = false
  ) {
    self.environment = environment
    let apps = apps.sorted { $0.rawValue < $1.rawValue }
    let scopes = [.general, .sandbox] + apps.flatMap { [Scope($0), Scope($0).sandbox] }
    problems = reservedNames + scopes.flatMap(incomplete)
    for app in apps {
      for environment in APNsEnvironment.allCases {
        let source = source(of: app, environment)
        if source.key != nil || source.certificate != nil {
          lanes[.init(app, PushNetwork(environment))] = source
        }
      }
    }
    let lacking = apps.filter { lanes[.init($0, PushNetwork(standard))] == nil }
    for app in lacking { problems += missing(app, standard) }
    let misplaced = misplacedCertificates(scopes)
    // If an app lacks a credential, a certificate in the wrong variable may be why.
    if !lacking.isEmpty { problems += misplaced.map(\.problem) }
    if apps.isEmpty, !isOptional, key(.general) == nil, problems.isEmpty {
      problems.append(nothing)
    }
    warnings =
      (lacking.isEmpty ? misplaced.map(\.problem) : [])
      + unread(scopes, except: Set(misplaced.map(\.name)))
  }

  // MARK: Precedence

  private func source(of app: App, _ environment: APNsEnvironment) -> Source {
    let team = teamID(of: Scope(app))
    // A key of another team can't sign for the app.
    let key = Self.precedence(of: app, environment).lazy.compactMap { self.key($0) }
      .first { $0.teamID == team }
    var source = Source(key: key, certificate: certificate(Scope(app)))
    // The app's key for this environment is more specific than its certificate for both.
    if environment == .sandbox, key?.prefix == Scope(app).sandbox.prefix {
      source.certificate = nil
    }
    return source
  }

  /// The scopes whose key may sign for an app, the first choice first.
  ///
  /// Apple binds a key to an environment, so the environment's key precedes the app's.
  private static func precedence(of app: App, _ environment: APNsEnvironment) -> [Scope] {
    switch environment {
    case .production: [Scope(app), .general]
    case .sandbox: [Scope(app).sandbox, .sandbox, Scope(app), .general]
    }
  }

  // MARK: Scopes

  /// What one set of variables is for, as the beginning of their names.
  private struct Scope {
    var prefix: String
    /// The prefix of the team's variable: both environments of an app belong to one team.
    var teamPrefix: String

    static let general = Scope(prefix: "APNS_", teamPrefix: "APNS_")
    static let sandbox = Scope(prefix: "APNS_SANDBOX_", teamPrefix: "APNS_")

    init(prefix: String, teamPrefix: String) {
      (self.prefix, self.teamPrefix) = (prefix, teamPrefix)
    }

    init(_ app: App) {
      prefix = "APNS_\(app.variableName)_"
      teamPrefix = prefix
    }

    var sandbox: Scope { Scope(prefix: prefix + "SANDBOX_", teamPrefix: teamPrefix) }

    var isOfApp: Bool { teamPrefix != "APNS_" }
    /// A certificate is for one app and both environments.
    var hasCertificate: Bool { isOfApp && prefix == teamPrefix }
    var keyID: String { prefix + "KEY_ID" }
    var keyPath: String { prefix + "PRIVATE_KEY_PATH" }
    var teamID: String { teamPrefix + "TEAM_ID" }
    var certificatePath: String { prefix + "CERTIFICATE_PATH" }
    var certificateKeyPath: String { prefix + "CERTIFICATE_KEY_PATH" }
  }

  private func teamID(of scope: Scope) -> String? { team(of: scope)?.id }

  private func team(of scope: Scope) -> (id: String, variable: String)? {
    [scope.teamID, Scope.general.teamID].lazy.compactMap { name in
      environment.nonEmpty(name).map { (id: $0, variable: name) }
    }.first
  }

  private func key(_ scope: Scope) -> KeySource? {
    guard let path = environment.nonEmpty(scope.keyPath), let team = team(of: scope) else {
      return nil
    }
    return KeySource(
      prefix: scope.prefix, path: path, keyID: environment.nonEmpty(scope.keyID), teamID: team.id,
      teamIDName: team.variable)
  }

  private func certificate(_ scope: Scope) -> CertificateSource? {
    guard let path = environment.nonEmpty(scope.certificatePath),
      let keyPath = environment.nonEmpty(scope.certificateKeyPath)
    else { return nil }
    return CertificateSource(prefix: scope.prefix, path: path, keyPath: keyPath)
  }

  // MARK: Problems

  /// The problem of an environment without any credential.
  private var nothing: String {
    let scope = Scope.general
    let team = environment.nonEmpty(scope.teamID) == nil ? ", \(scope.teamID)" : ""
    return "not set in the environment: \(scope.keyPath)\(team), and \(scope.keyID) unless the "
      + "file is named AuthKey_<ID>.p8"
  }

  /// Apps whose variables would be those of something else.
  private var reservedNames: [String] {
    environment.keys.sorted().compactMap { name in
      guard name.hasPrefix("APNS_"), name.hasSuffix("_BUNDLE_ID"),
        environment.nonEmpty(name) != nil
      else { return nil }
      let app = name.dropFirst("APNS_".count).dropLast("_BUNDLE_ID".count)
      guard app == "WIDGET" || app == "SANDBOX" || app.hasSuffix("_SANDBOX") else { return nil }
      return
        "\(name) names an app \(app.lowercased()), whose variables can't be distinguished from "
        + "others: give the app another name"
    }
  }

  private func incomplete(_ scope: Scope) -> [String] {
    func isSet(_ name: String) -> Bool { environment.nonEmpty(name) != nil }
    var problems: [String] = []
    if isSet(scope.keyID), !isSet(scope.keyPath) {
      problems.append("\(scope.keyID) is set without \(scope.keyPath), the path of its .p8 file")
    }
    if isSet(scope.keyPath), teamID(of: scope) == nil {
      let names = scope.isOfApp ? "\(scope.teamID) or APNS_TEAM_ID" : "APNS_TEAM_ID"
      problems.append("\(scope.keyPath) is set without \(names), the team that owns the key")
    }
    guard scope.hasCertificate else { return problems }
    if isSet(scope.certificatePath), !isSet(scope.certificateKeyPath) {
      problems.append(
        "\(scope.certificatePath) is set without \(scope.certificateKeyPath), the path of its "
          + "private key")
    }
    if isSet(scope.certificateKeyPath), !isSet(scope.certificatePath) {
      problems.append(
        "\(scope.certificateKeyPath) is set without \(scope.certificatePath), the path of its "
          + "certificate")
    }
    return problems
  }

  /// Explains an app without a credential, unless a reported problem does.
  private func missing(_ app: App, _ standard: APNsEnvironment) -> [String] {
    let scope = Scope(app)
    let tried = Self.precedence(of: app, standard) + [scope]
    let isReported = tried.contains { !incomplete($0).isEmpty }
    if isReported { return [] }
    let others = tried.filter { key($0) != nil }.map(\.keyPath)
    if let other = others.first {
      return [
        "the app \(app) has no key of its team: \(scope.teamID) is not the team of \(other); set "
          + "\(scope.keyPath)"
      ]
    }
    let hasAny = environment.contains {
      $0.key.hasPrefix("APNS_") && $0.key.hasSuffix("_KEY_PATH") && !$0.value.isEmpty
    }
    guard hasAny else { return problems.contains(nothing) ? [] : [nothing] }
    return [
      "the app \(app) has no credential for \(standard.rawValue): set APNS_PRIVATE_KEY_PATH (all "
        + "apps), \(scope.keyPath) (a key of its own) or \(scope.certificatePath)"
    ]
  }

  /// Finds certificates in variables that name no app, or one environment.
  private func misplacedCertificates(_ scopes: [Scope]) -> [(name: String, problem: String)] {
    scopes.filter { !$0.hasCertificate }.flatMap { scope in
      [scope.certificatePath, scope.certificateKeyPath].compactMap { name in
        guard environment.nonEmpty(name) != nil else { return nil }
        let app = scope.isOfApp ? scope.teamPrefix : "APNS_<APP>_"
        let right =
          app + (name == scope.certificatePath ? "CERTIFICATE_PATH" : "CERTIFICATE_KEY_PATH")
        return (
          name,
          "\(name) has no effect: a certificate is for one app and both environments: \(right)"
        )
      }
    }
  }

  /// Reports variables whose names end like those of credentials and belong to no scope.
  private func unread(_ scopes: [Scope], except misplaced: Set<String>) -> [String] {
    let endings = [
      "_KEY_ID", "_TEAM_ID", "_PRIVATE_KEY_PATH", "_CERTIFICATE_PATH", "_CERTIFICATE_KEY_PATH",
    ]
    var known: Set<String> = []
    for scope in scopes {
      known.formUnion([scope.keyID, scope.keyPath, scope.teamID])
      if scope.hasCertificate {
        known.formUnion([scope.certificatePath, scope.certificateKeyPath])
      }
    }
    return environment.filter { !$0.value.isEmpty }.keys.sorted().filter { name in
      name.hasPrefix("APNS_") && !known.contains(name) && !misplaced.contains(name)
        && endings.contains { name.hasSuffix($0) }
    }.map { name in
      "\(name) has no effect: no app of that name has a bundle ID"
        + suggestion(for: name, among: known.sorted())
    }
  }
}
