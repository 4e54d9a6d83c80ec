import Foundation
import LocalStack

/// Google's own sender for Python, if `make bench` could install it.
///
/// It writes the JSON of each message while it is measured; RidePulse writes it when it decides.
enum FirebaseAdmin {
  /// What the script prints.
  private struct Report: Codable {
    let version: String
    let calls: [Call]
  }

  private struct Call: Codable {
    let name: String
    /// Microseconds of CPU for a message.
    let cost: Double
    /// Messages a second.
    let rate: Double
  }

  /// The variable with another Python that has the library.
  private static let variable = "FIREBASE_ADMIN_PYTHON"
  private static let script = "Sources/Bench/measure_firebase_admin.py"
  /// The library's calls: one after another, 500 by threads, 500 by HTTP/2.
  private static let calls = ["send", "send_each", "send_each_async"]
  private static let messages = 2_000
  /// `EX_UNAVAILABLE`: this Python does not have the library.
  private static let isMissing: Int32 = 69

  /// Returns the figures of each call; without the library they state that it is not installed.
  static func figures(_ simulator: LocalFCMSimulator) throws -> [Figure] {
    let report = try report(simulator)
    let group = "\(messages) of these messages by firebase-admin \(report?.version ?? "for Python")"
    return calls.flatMap { call -> [Figure] in
      let measured = report?.calls.first { $0.name == call }
      let figures: [Figure] = [
        .cpu(group, "\(call), CPU a message", measured?.cost),
        .plain(group, "\(call), messages/s", measured?.rate, digits: 0),
      ]
      return figures.map { $0.orShow("not installed") }
    }
  }

  private static func report(_ simulator: LocalFCMSimulator) throws -> Report? {
    let files = FileManager.default
    var environment = ProcessInfo.processInfo.environment
    let python = environment[variable] ?? ".build/firebase-admin/bin/python3"
    guard files.isExecutableFile(atPath: python), files.isReadableFile(atPath: script) else {
      return nil
    }
    let (output, errors) = (simulator.directory + "/python", simulator.directory + "/errors")
    // The libraries below it for HTTP/1.1 and for HTTP/2 have a variable each.
    for trust in ["REQUESTS_CA_BUNDLE", "SSL_CERT_FILE"] {
      environment[trust] = simulator.environment["FCM_CA_FILE"]
    }
    let process = try ChildProcess(
      [
        python, script, simulator.url, simulator.environment["FCM_SERVICE_ACCOUNT_PATH"] ?? "",
        "\(messages)",
      ] + calls, environment: environment, output: .log(output), errors: .log(errors))
    process.waitForEndBlocking()
    let status = process.ending?.status
    if status == isMissing { return nil }
    guard status == 0, let text = files.contents(atPath: output) else {
      let text = (try? String(contentsOfFile: errors, encoding: .utf8)) ?? ""
      throw BenchFailure(text: "\(script) failed: \(text)")
    }
    return try JSONDecoder().decode(Report.self, from: text)
  }
}
