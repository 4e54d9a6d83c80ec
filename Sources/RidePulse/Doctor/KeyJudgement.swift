import APNSClient
import Foundation
import RideCore

/// The signing key, as far as it can be judged without asking APNs.
struct KeyFacts: Hashable, Sendable {
  /// Nil where the variable is not set.
  var path: String?
  var trouble: SigningKeyError?
  /// Every user of the machine may read it.
  var isOpenToAll = false
  var keyID: String?
  var teamID: String?

  /// What should name the file holds the key.
  var isKeyItself: Bool { path.map { $0.contains("-----BEGIN") || $0.contains("\n") } ?? false }

  /// Reads the file that the environment names.
  init(_ environment: [String: String]) {
    func value(_ name: String) -> String? {
      environment[name].flatMap { $0.isEmpty ? nil : $0 }
    }
    (keyID, teamID) = (value("APNS_KEY_ID"), value("APNS_TEAM_ID"))
    path = value("APNS_PRIVATE_KEY_PATH")
    guard let path, !isKeyItself else { return }
    do throws(SigningKeyError) { try SigningKey.check(path: path) } catch { trouble = error }
    let mode = try? FileManager.default.attributesOfItem(atPath: path)[.posixPermissions]
    isOpenToAll = ((mode as? NSNumber)?.intValue ?? 0) & 0o004 != 0
  }

  /// For tables of tests.
  init(
    path: String? = nil, trouble: SigningKeyError? = nil, isOpenToAll: Bool = false,
    keyID: String? = nil, teamID: String? = nil
  ) {
    self.path = path
    self.trouble = trouble
    self.isOpenToAll = isOpenToAll
    self.keyID = keyID
    self.teamID = teamID
  }
}

/// Says what the facts of the key mean.
enum KeyJudgement {
  static func findings(_ facts: KeyFacts) -> [Finding] {
    [
      file(facts),
      id("key ID", "APNS_KEY_ID", facts.keyID, example: "ABC123DEFG", hint(facts)),
      id("team ID", "APNS_TEAM_ID", facts.teamID, example: "DEF123GHIJ", nil),
    ]
  }

  private static func file(_ facts: KeyFacts) -> Finding {
    let name = "key file"
    guard let path = facts.path else {
      return .failure(
        name, "APNS_PRIVATE_KEY_PATH is not set",
        "export APNS_PRIVATE_KEY_PATH=AuthKey_ABC123DEFG.p8, the file from Apple's page Keys")
    }
    if facts.isKeyItself {
      return .failure(
        name, "APNS_PRIVATE_KEY_PATH holds the key itself; expected the path of its file",
        "write the key to a file of mode 600, and export APNS_PRIVATE_KEY_PATH with its path")
    }
    switch facts.trouble {
    case .unreadable:
      return .failure(
        name, describe(facts),
        "ls -l \(ShellText.word(path)), and let this user read it; "
          + "or export APNS_PRIVATE_KEY_PATH with another path")
    case .notPrivateKey, .notP256:
      return .failure(
        name, describe(facts),
        "export APNS_PRIVATE_KEY_PATH=AuthKey_ABC123DEFG.p8, as Apple's page Keys gave it")
    case .badKeyID, .badTeamID, .signing: return .failure(name, describe(facts), "ridepulse doctor")
    case nil where facts.isOpenToAll:
      return .warning(
        name, "\(path) is on P-256, and everybody may read it", "chmod 600 \(ShellText.word(path))")
    case nil: return .ok(name, "\(path) is on P-256")
    }
  }

  private static func describe(_ facts: KeyFacts) -> String {
    facts.trouble.map(\.description) ?? ""
  }

  private static func id(
    _ name: String, _ variable: String, _ value: String?, example: String, _ hint: String?
  ) -> Finding {
    let mend = "export \(variable)=\(hint ?? example)"
    guard let value else { return .failure(name, "\(variable) is not set", mend) }
    if !SigningKey.isTenCharacterID(value) {
      return .failure(
        name, "\(variable) is \"\(safe(value))\"; expected 10 characters of A-Z and 0-9", mend)
    }
    if let hint, hint != value {
      return .warning(
        name, "\(variable) is \(value), and the key file's name says \(hint)", mend)
    }
    return .ok(name, value)
  }

  /// Somebody may have put the key itself there.
  private static func safe(_ value: String) -> String {
    value.count > 20 ? "\(value.prefix(4))…, \(value.count) characters" : value
  }

  /// The key ID by the name that Apple gives the file: `AuthKey_ABC123DEFG.p8`.
  private static func hint(_ facts: KeyFacts) -> String? {
    guard let file = facts.path?.split(separator: "/").last, file.hasPrefix("AuthKey_"),
      file.hasSuffix(".p8")
    else { return nil }
    let id = String(file.dropFirst("AuthKey_".count).dropLast(".p8".count))
    return SigningKey.isTenCharacterID(id) ? id : nil
  }
}

extension KeyJudgement {
  /// Whether a provider token can be signed, and by what.
  static func isUsable(_ facts: KeyFacts) -> Bool {
    facts.path != nil && facts.trouble == nil && !facts.isKeyItself
      && [facts.keyID, facts.teamID].allSatisfy { $0.map(SigningKey.isTenCharacterID) ?? false }
  }
}
