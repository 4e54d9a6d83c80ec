/// One thing that `doctor` looked at, and how it stands.
struct CheckResult: Hashable {
  enum Standing: String {
    case ok, warning, failure, skipped
  }

  /// What was looked at, such as `push customer production`.
  var name: String
  var standing: Standing
  /// What was seen, in one line without a secret.
  var what: String
  /// Commands, or what a person has to do, that mend it; empty where nothing is to be mended.
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

/// All findings, in the order in which they are to be mended.
struct Diagnosis: Hashable {
  var findings: [CheckResult]

  func count(_ standing: CheckResult.Standing) -> Int {
    findings.count { $0.standing == standing }
  }

  /// Warnings are no problems; what was skipped is skipped because of one.
  var status: ExitStatus { count(.failure) > 0 ? .foundProblems : .done }
}
