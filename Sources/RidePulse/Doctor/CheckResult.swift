/// The result of one check of `doctor`.
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
  var mend: [String] = []

  static func ok(_ name: String, _ what: String) -> CheckResult {
    CheckResult(name: name, standing: .ok, what: what)
  }

  static func warning(_ name: String, _ what: String, _ mend: String...) -> CheckResult {
    CheckResult(name: name, standing: .warning, what: what, mend: mend)
  }

  static func failure(_ name: String, _ what: String, _ mend: String...) -> CheckResult {
    CheckResult(name: name, standing: .failure, what: what, mend: mend)
  }

  static func skipped(_ name: String, needs cause: String) -> CheckResult {
    CheckResult(name: name, standing: .skipped, what: "needs \(cause)")
  }
}

/// All check results, in the order in which the problems have to be fixed.
struct Diagnosis: Hashable {
  var findings: [CheckResult]

  func count(_ standing: CheckResult.Standing) -> Int {
    findings.count { $0.standing == standing }
  }

  /// Warnings do not count as problems; a check is skipped only because of another problem.
  var status: ExitStatus { count(.failure) > 0 ? .foundProblems : .done }
}
