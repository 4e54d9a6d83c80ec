import RideCore

struct CheckResult: Hashable {
  enum Standing: String {
    case ok, warning, failure, skipped
  }

  /// The name of the check, such as `push customer production`.
  var name: String
  var standing: Standing
  /// What was found, in one line without a secret.
  var what: String
  /// Commands or manual steps that fix it; empty if there is nothing to fix.
  var remedy: [String] = []

  static func ok(_ name: String, _ what: String) -> CheckResult {
    CheckResult(name: name, standing: .ok, what: what)
  }

  static func warning(_ name: String, _ what: String, _ remedy: String...) -> CheckResult {
    CheckResult(name: name, standing: .warning, what: what, remedy: remedy)
  }

  static func failure(_ name: String, _ what: String, _ remedy: String...) -> CheckResult {
    CheckResult(name: name, standing: .failure, what: what, remedy: remedy)
  }

  static func skipped(_ name: String, needs cause: String) -> CheckResult {
    CheckResult(name: name, standing: .skipped, what: "needs \(cause)")
  }
}
