import Foundation
import LocalPostgres

/// A `ridepulse serve` process of the measurement.
final class ServiceProcess {
  private let process = Process()
  private let output = Pipe()

  var processID: Int32 { process.processIdentifier }

  init(conninfo: String, environment: [String: String]) throws {
    process.executableURL = URL(fileURLWithPath: try LocalBinary.path("ridepulse"))
    process.arguments = ["serve"]
    process.environment = environment.merging(["DATABASE_URL": conninfo]) { own, _ in own }
    process.standardError = output
    try process.run()
  }

  /// Waits for the log line `Serving`.
  func waitUntilServing() throws {
    var said = ""
    while !said.contains(" Serving") {
      let data = output.fileHandleForReading.availableData
      if data.isEmpty { throw LocalFailure(text: "ridepulse serve did not start: \(said)") }
      said += String(decoding: data, as: UTF8.self)
    }
    // Drains the output from now on, so that a full pipe does not block the service.
    output.fileHandleForReading.readabilityHandler = { _ = $0.availableData }
  }

  func stop() {
    process.terminate()
    process.waitUntilExit()
  }
}
