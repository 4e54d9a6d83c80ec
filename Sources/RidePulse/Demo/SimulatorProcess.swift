import Foundation

/// An `apns-simulator` beside this process; it ends when this process does, however that happens.
final class SimulatorProcess {
  /// Where it listens: `https://127.0.0.1:PORT`.
  let url: String
  /// Its keys and records.
  let directory: String
  private let process: Process
  private let input = Pipe()

  static let keyID = "SIMKEY0001"
  static let teamID = "SIMTEAM001"

  /// Starts it on a free port and waits until it listens.
  init(directory: String) throws {
    self.directory = directory
    process = Process()
    process.executableURL = URL(fileURLWithPath: try Self.binary())
    process.arguments = ["--port", "0", "--state", directory, "--exit-with-stdin", "--quiet"]
    let output = Pipe()
    process.standardInput = input
    process.standardOutput = output
    try process.run()
    let line = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
    guard let word = line.split(separator: " ").first(where: { $0.hasPrefix("https://") }) else {
      process.terminate()
      throw CommandFailure("apns-simulator did not start; it said: \(line)")
    }
    url = String(word)
  }

  /// The variables with which a service uses it.
  var environment: [String: String] {
    [
      "APNS_KEY_ID": Self.keyID, "APNS_TEAM_ID": Self.teamID,
      "APNS_PRIVATE_KEY_PATH": "\(directory)/AuthKey_\(Self.keyID).p8",
      "APNS_CUSTOMER_BUNDLE_ID": "com.example.customer",
      "APNS_DRIVER_BUNDLE_ID": "com.example.driver", "APNS_PRODUCTION_URL": url,
      "APNS_CA_FILE": "\(directory)/ca.pem",
    ]
  }

  /// Ends it.
  func stop() {
    try? input.fileHandleForWriting.close()
    process.waitUntilExit()
  }

  /// The binary beside this one, else the one on PATH.
  private static func binary() throws -> String {
    let own = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
    var folders = [own.map { URL(fileURLWithPath: $0).deletingLastPathComponent().path } ?? "."]
    folders += (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
      .map(String.init)
    let found = folders.map { $0 + "/apns-simulator" }
      .first { FileManager.default.isExecutableFile(atPath: $0) }
    guard let found else {
      throw CommandFailure(
        "apns-simulator is neither beside ridepulse nor on PATH; make build makes both")
    }
    return found
  }
}
