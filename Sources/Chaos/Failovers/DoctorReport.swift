import Foundation
import LocalStack

/// The warnings of `ridepulse doctor`, as a person reads them before a failover.
struct DoctorReport: Sendable {
  struct Check: Decodable, Hashable, Sendable {
    let name: String
    let status: String
    let message: String
  }

  private struct Answer: Decodable {
    let checks: [Check]
  }

  let checks: [Check]

  /// Parses what `doctor --format json` printed; nil if it is something else.
  init?(json: some Sequence<UInt8>) {
    guard let answer = try? JSONDecoder().decode(Answer.self, from: Data(json)) else { return nil }
    checks = answer.checks
  }

  /// Runs `doctor` with the environment of a node.
  static func read(_ environment: [String: String], directory: String) async throws -> DoctorReport
  {
    let file = directory + "/doctor.json"
    let child = try ChildProcess(
      [ServiceBinary.path(), "doctor", "--format", "json"], environment: environment,
      output: .log(file), errors: .null)
    await child.waitForEnd()
    let data = FileManager.default.contents(atPath: file) ?? Data()
    guard let report = DoctorReport(json: data) else {
      throw ChaosFailure("ridepulse doctor printed \(String(decoding: data, as: UTF8.self))")
    }
    return report
  }

  /// What it warns of about standbys: that a failover may lose commits.
  var standbyWarnings: [String] {
    checks.filter { $0.name == "standbys" && $0.status == "warning" }.map(\.message)
  }
}
