import Base
import Foundation
import PushClient
import RideCore

/// The keys and certificates that the environment names, as far as they can be judged without APNs.
struct CredentialState: Sendable {
  /// The client certificate of one app.
  struct Certificate: Sendable {
    var app: App
    /// The certificate; on failure, what is wrong with its files.
    var certificate: Probe<ClientCertificate>
    var keyPath: String
    /// Whether every user of the machine may read its private key.
    var isOpenToAll = false
    /// What `serve` warns about.
    var doubts: [String] = []
    var isExpired = false
  }

  /// What the pushes of a lane present, as far as it could be loaded.
  private(set) var credentials: Credentials
  var keys: [KeyState]
  var certificates: [Certificate]
  /// Variables that contradict each other or are missing.
  private(set) var problems: [String]
  private(set) var warnings: [String]
  /// Environments in which an app presents something else than in the other one.
  private(set) var isSeparate = false

  /// Reads the files that the environment names; each bad one leaves the others usable.
  init(
    _ environment: [String: String], bundleIDs: [App: String], standard: APNsEnvironment,
    now: Timestamp
  ) {
    let variables = CredentialVariables(
      environment, apps: Array(bundleIDs.keys), standard: standard)
    problems = variables.problems
    warnings = variables.warnings
    let lanes = variables.lanes.mapValues { source in
      Credentials.Choice(
        key: source.key.flatMap { try? $0.load() },
        certificate: source.certificate.flatMap { try? $0.load() })
    }
    credentials = Credentials(lanes: lanes, bundleIDs: bundleIDs)
    keys = variables.keys.map { KeyState($0) }
    // Without any credential, the first thing to set is the general key.
    let general = KeyState(environment)
    if !keys.contains(where: { $0.prefix == general.prefix }),
      variables.lanes.isEmpty || general.path != nil
    {
      keys.insert(general, at: 0)
    }
    let apps = bundleIDs.sorted { $0.key.rawValue < $1.key.rawValue }
    certificates = apps.compactMap { app, bundleID in
      APNsEnvironment.allCases.lazy.compactMap {
        variables.lanes[.init(app, PushNetwork($0))]?.certificate
      }
      .first.map { Certificate(app, $0, bundleID: bundleID, now: now) }
    }
    isSeparate = apps.contains { app, _ in
      variables.lanes[.init(app, .production)] != variables.lanes[.init(app, .sandbox)]
    }
  }

  /// For table-driven tests.
  init(keys: [KeyState] = [], certificates: [Certificate] = [], problems: [String] = []) {
    credentials = Credentials(lanes: [:], bundleIDs: [:])
    self.keys = keys
    self.certificates = certificates
    self.problems = problems
    warnings = []
  }

  /// Whether anything can be presented to APNs.
  var isUsable: Bool {
    keys.contains(where: KeyCheck.isUsable) || certificates.contains { $0.certificate.value != nil }
  }
}

extension CredentialState.Certificate {
  init(_ app: App, _ source: CertificateSource, bundleID: String, now: Timestamp) {
    self.app = app
    keyPath = source.keyPath
    isOpenToAll = KeyState.isOpenToAll(source.keyPath)
    do throws(CommandFailure) {
      let loaded = try source.load()
      certificate = .known(loaded)
      doubts = CredentialAdvice.certificate(loaded, of: app, bundleID: bundleID, at: now)
      isExpired = loaded.expires <= now
    } catch {
      certificate = .failed("\(error)")
    }
  }
}

enum CredentialCheck {
  static func results(_ state: CredentialState) -> [CheckResult] {
    let keys = state.keys.flatMap(KeyCheck.results) + twins(state.keys)
    var results = keys
    // The checks of a key explain what its variables lack.
    if !state.problems.isEmpty, !keys.contains(where: { $0.standing == .failure }) {
      results.append(
        .failure(
          "credentials", state.problems.joined(separator: "; "),
          "correct these variables; see docs/configuration.md, Keys"))
    }
    results += state.warnings.map {
      CheckResult.warning("credentials", $0, "unset it, or correct its name")
    }
    return results + state.certificates.map(certificate)
  }

  /// Finds key IDs that are given for several keys.
  private static func twins(_ keys: [KeyState]) -> [CheckResult] {
    let named = Dictionary(grouping: keys.filter { $0.usedKeyID != nil }) { $0.usedKeyID ?? "" }
    return named.sorted { $0.key < $1.key }.compactMap { id, keys in
      let files = Set(keys.compactMap(\.file)).sorted()
      guard files.count > 1 else { return nil }
      let names = keys.map(\.keyIDName).joined(separator: ", ")
      return .warning(
        "key ID", "\(id) is the ID of \(files.joined(separator: " and of "))",
        "give each file its own ID, as Apple does: \(names)")
    }
  }

  private static func certificate(_ state: CredentialState.Certificate) -> CheckResult {
    let name = "certificate \(state.app)"
    let remedy =
      "replace both files by those of the current certificate from Apple's page Certificates, and send SIGHUP"
    switch state.certificate {
    case .failed(let why): return .failure(name, why, "correct both variables, or unset both")
    case .unasked: return .skipped(name, needs: "its files")
    case .known(let certificate):
      let doubts = state.doubts.joined(separator: "; ")
      if state.isExpired { return .failure(name, doubts, remedy) }
      if !doubts.isEmpty { return .warning(name, doubts, remedy) }
      if state.isOpenToAll {
        return .warning(
          name, "every user may read its key \(state.keyPath)",
          "chmod 600 \(ShellText.word(state.keyPath))")
      }
      return .ok(name, "\(certificate.commonName), until \(CivilTime.iso(certificate.expires))")
    }
  }
}
