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
      log(.info, "Rule files read anew", ["rules": "\(rules.ruleCount)"])
    } catch {
      for line in "\(error)".split(separator: "\n") {
        log(.error, "Rule files are as before: the new ones are bad", ["problem": String(line)])
      }
    }
    do {
      service.use(try apns.signingKey())
      log(.info, "Signing key read anew", ["key": apns.keyID])
    } catch {
      log(.error, "The signing key is as before: the new one is bad", ["problem": "\(error)"])
    }
  }
}
