import Foundation
import PushClient
import RideCore

/// The state of one signing key, as far as it can be judged without APNs.
struct KeyState: Hashable, Sendable {
  /// The beginning of its variables' names.
  var prefix = "APNS_"
  var path: String?
  var problem: SigningKeyError?
  /// Whether every user of the machine may read it.
  var isOpenToAll = false
  /// The ID that the variable gives.
  var keyID: String?
  /// The ID in the name of the file that the path leads to.
  var keyIDOfFile: String?
  var teamID: String?
  /// The variable of its team.
  var teamIDName = "APNS_TEAM_ID"

  /// Whether the variable contains the key itself instead of the path of its file.
  var isKeyItself: Bool { path.map { $0.contains("-----BEGIN") || $0.contains("\n") } ?? false }

  var keyIDName: String { prefix + "KEY_ID" }
  var pathName: String { prefix + "PRIVATE_KEY_PATH" }

  /// The ID that signs: the variable's, otherwise the file's.
  var usedKeyID: String? { keyID ?? keyIDOfFile }

  /// The file that the path leads to, through symbolic links.
  var file: String? {
    guard let path, !isKeyItself else { return nil }
    return URL(fileURLWithPath: path).resolvingSymlinksInPath().path
  }

  /// Reads the general key that the environment names.
  init(_ environment: [String: String]) {
    self.init(
      path: environment.nonEmpty("APNS_PRIVATE_KEY_PATH"),
      keyID: environment.nonEmpty("APNS_KEY_ID"), teamID: environment.nonEmpty("APNS_TEAM_ID"))
    readFile()
  }

  init(_ source: KeySource) {
    self.init(
      prefix: source.prefix, path: source.path, keyID: source.keyID, teamID: source.teamID,
      teamIDName: source.teamIDName)
    readFile()
  }

  /// For table-driven tests, without a file.
  init(
    prefix: String = "APNS_", path: String? = nil, problem: SigningKeyError? = nil,
    isOpenToAll: Bool = false, keyID: String? = nil, keyIDOfFile: String? = nil,
    teamID: String? = nil, teamIDName: String = "APNS_TEAM_ID"
  ) {
    self.prefix = prefix
    self.path = path
    self.problem = problem
    self.isOpenToAll = isOpenToAll
    self.keyID = keyID
    self.keyIDOfFile = keyIDOfFile
    self.teamID = teamID
    self.teamIDName = teamIDName
  }

  private mutating func readFile() {
    guard let path, !isKeyItself else { return }
    let file = SigningKeyFile(path)
    do throws(SigningKeyError) { try SigningKey.check(file) } catch { problem = error }
    isOpenToAll = Self.isOpenToAll(file.target)
    keyIDOfFile = file.keyID
  }

  static func isOpenToAll(_ path: String) -> Bool {
    let file = URL(fileURLWithPath: path).resolvingSymlinksInPath().path
    let mode = try? FileManager.default.attributesOfItem(atPath: file)[.posixPermissions]
    return ((mode as? NSNumber)?.intValue ?? 0) & 0o004 != 0
  }
}

enum KeyCheck {
  static func results(_ probes: KeyState) -> [CheckResult] {
    // The general key's checks have no suffix.
    let suffix = probes.prefix == "APNS_" ? "" : " \(probes.prefix.dropLast())"
    return [
      file(probes, "key file" + suffix),
      keyID(probes, "key ID" + suffix),
      team(probes, "team ID" + suffix),
    ]
  }

  private static func file(_ probes: KeyState, _ name: String) -> CheckResult {
    let variable = probes.pathName
    guard let path = probes.path else {
      return .failure(
        name, "\(variable) is not set",
        "export \(variable)=AuthKey_ABC123DEFG.p8, the file from Apple's page Keys")
    }
    if probes.isKeyItself {
      return .failure(
        name, "\(variable) contains the key itself; expected the path of its file",
        "write the key to a file of mode 600, and export \(variable) with its path")
    }
    switch probes.problem {
    case .unreadable:
      return .failure(
        name, describe(probes),
        "ls -l \(ShellText.word(path)), and let this user read it; "
          + "or export \(variable) with another path")
    case .notPrivateKey, .notP256:
      return .failure(
        name, describe(probes),
        "export \(variable)=AuthKey_ABC123DEFG.p8, as downloaded from Apple's page Keys")
    case .badKeyID, .badTeamID, .signing:
      return .failure(name, describe(probes), "ridepulse doctor")
    case nil where probes.isOpenToAll:
      return .warning(
        name, "\(path) is on P-256, and every user may read it", "chmod 600 \(ShellText.word(path))"
      )
    case nil: return .ok(name, "\(path) is on P-256")
    }
  }

  private static func describe(_ probes: KeyState) -> String {
    probes.problem.map(\.description) ?? ""
  }

  private static func keyID(_ probes: KeyState, _ name: String) -> CheckResult {
    let variable = probes.keyIDName
    guard let value = probes.keyID else {
      if let id = probes.keyIDOfFile { return .ok(name, "\(id), from the file's name") }
      return .failure(name, "\(variable) is not set", "export \(variable)=ABC123DEFG")
    }
    let remedy = "export \(variable)=\(probes.keyIDOfFile ?? "ABC123DEFG")"
    if let problem = formProblem(variable, value) { return .failure(name, problem, remedy) }
    if let hint = probes.keyIDOfFile, hint != value {
      return .warning(
        name, "\(variable) is \(value), and the key file's name has \(hint)",
        "unset \(variable), or \(remedy)")
    }
    return .ok(name, value)
  }

  private static func team(_ probes: KeyState, _ name: String) -> CheckResult {
    let variable = probes.teamIDName
    let remedy = "export \(variable)=DEF123GHIJ"
    guard let value = probes.teamID else {
      return .failure(name, "\(variable) is not set", remedy)
    }
    if let problem = formProblem(variable, value) { return .failure(name, problem, remedy) }
    return .ok(name, value)
  }

  private static func formProblem(_ what: String, _ value: String) -> String? {
    SigningKey.isTenCharacterID(value)
      ? nil : "\(what) is \"\(safe(value))\"; expected 10 characters of A-Z and 0-9"
  }

  /// Shortens a long value, which may be the key itself.
  private static func safe(_ value: String) -> String {
    value.count > 20 ? "\(value.prefix(4))…, \(value.count) characters" : value
  }

  /// Returns whether a provider token can be signed.
  static func isUsable(_ probes: KeyState) -> Bool {
    probes.path != nil && probes.problem == nil && !probes.isKeyItself
      && [probes.usedKeyID, probes.teamID].allSatisfy {
        $0.map(SigningKey.isTenCharacterID) ?? false
      }
  }
}
