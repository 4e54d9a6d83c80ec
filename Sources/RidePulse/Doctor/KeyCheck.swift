import APNSClient
import Foundation
import RideCore

/// The state of the signing key, as far as it can be judged without APNs.
struct KeyState: Hashable, Sendable {
  var path: String?
  var problem: SigningKeyError?
  /// Whether every user of the machine may read it.
  var isOpenToAll = false
  var keyID: String?
  var teamID: String?

  /// Whether the variable contains the key itself instead of the path of its file.
  var isKeyItself: Bool { path.map { $0.contains("-----BEGIN") || $0.contains("\n") } ?? false }

  /// Reads the key file that the environment names.
  init(_ environment: [String: String]) {
    func value(_ name: String) -> String? {
      environment[name].flatMap { $0.isEmpty ? nil : $0 }
    }
    (keyID, teamID) = (value("APNS_KEY_ID"), value("APNS_TEAM_ID"))
    path = value("APNS_PRIVATE_KEY_PATH")
    guard let path, !isKeyItself else { return }
    do throws(SigningKeyError) { try SigningKey.check(path: path) } catch { problem = error }
    let mode = try? FileManager.default.attributesOfItem(atPath: path)[.posixPermissions]
    isOpenToAll = ((mode as? NSNumber)?.intValue ?? 0) & 0o004 != 0
  }

  /// For table-driven tests.
  init(
    path: String? = nil, problem: SigningKeyError? = nil, isOpenToAll: Bool = false,
    keyID: String? = nil, teamID: String? = nil
  ) {
    self.path = path
    self.problem = problem
    self.isOpenToAll = isOpenToAll
    self.keyID = keyID
    self.teamID = teamID
  }
}

enum KeyCheck {
  static func results(_ probes: KeyState) -> [CheckResult] {
    [
      file(probes),
      id("key ID", "APNS_KEY_ID", probes.keyID, example: "ABC123DEFG", hint(probes)),
      id("team ID", "APNS_TEAM_ID", probes.teamID, example: "DEF123GHIJ", nil),
    ]
  }

  private static func file(_ probes: KeyState) -> CheckResult {
    let name = "key file"
    guard let path = probes.path else {
      return .failure(
        name, "APNS_PRIVATE_KEY_PATH is not set",
        "export APNS_PRIVATE_KEY_PATH=AuthKey_ABC123DEFG.p8, the file from Apple's page Keys")
    }
    if probes.isKeyItself {
      return .failure(
        name, "APNS_PRIVATE_KEY_PATH contains the key itself; expected the path of its file",
        "write the key to a file of mode 600, and export APNS_PRIVATE_KEY_PATH with its path")
    }
    switch probes.problem {
    case .unreadable:
      return .failure(
        name, describe(probes),
        "ls -l \(ShellText.word(path)), and let this user read it; "
          + "or export APNS_PRIVATE_KEY_PATH with another path")
    case .notPrivateKey, .notP256:
      return .failure(
        name, describe(probes),
        "export APNS_PRIVATE_KEY_PATH=AuthKey_ABC123DEFG.p8, as downloaded from Apple's page Keys")
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

  private static func id(
    _ name: String, _ variable: String, _ value: String?, example: String, _ hint: String?
  ) -> CheckResult {
    let remedy = "export \(variable)=\(hint ?? example)"
    guard let value else { return .failure(name, "\(variable) is not set", remedy) }
    if !SigningKey.isTenCharacterID(value) {
      return .failure(
        name, "\(variable) is \"\(safe(value))\"; expected 10 characters of A-Z and 0-9", remedy)
    }
    if let hint, hint != value {
      return .warning(
        name, "\(variable) is \(value), and the key file's name has \(hint)", remedy)
    }
    return .ok(name, value)
  }

  /// Shortens a long value, which may be the key itself.
  private static func safe(_ value: String) -> String {
    value.count > 20 ? "\(value.prefix(4))…, \(value.count) characters" : value
  }

  /// Returns the key ID from the file name that Apple gives the key: `AuthKey_ABC123DEFG.p8`.
  private static func hint(_ probes: KeyState) -> String? {
    guard let file = probes.path?.split(separator: "/").last, file.hasPrefix("AuthKey_"),
      file.hasSuffix(".p8")
    else { return nil }
    let id = String(file.dropFirst("AuthKey_".count).dropLast(".p8".count))
    return SigningKey.isTenCharacterID(id) ? id : nil
  }

  /// Returns whether a provider token can be signed.
  static func isUsable(_ probes: KeyState) -> Bool {
    probes.path != nil && probes.problem == nil && !probes.isKeyItself
      && [probes.keyID, probes.teamID].allSatisfy { $0.map(SigningKey.isTenCharacterID) ?? false }
  }
}
