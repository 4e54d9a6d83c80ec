import APNSClient
import RideCore
import RuleFiles

/// Handles SIGHUP: rereads the rule files and the key, and adopts each of them only if it is valid.
enum Reload {
  static func perform(
    _ service: Service, _ apns: APNsVariables, _ arguments: Arguments,
    _ environment: [String: String], _ log: Log
  ) {
    do {
      let rules = try RuleDirectoryChoice.load(arguments.value("--schedules"), environment)
      service.use(rules.ruleSet)
      log(.info, "Rule files reloaded", ["rules": "\(rules.ruleCount)"])
    } catch {
      for line in "\(error)".split(separator: "\n") {
        log(.error, "Rule files not reloaded: the new ones have errors", ["problem": String(line)])
      }
    }
    do {
      service.use(try apns.signingKey())
      log(.info, "Signing key reloaded", ["key": apns.keyID])
    } catch {
      log(.error, "Signing key not reloaded: the new one is unusable", ["problem": "\(error)"])
    }
  }
}
