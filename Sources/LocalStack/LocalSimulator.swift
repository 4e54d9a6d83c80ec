internal import Foundation
internal import Glibc

/// An `apns-simulator` process that ends when this process does, even by SIGKILL.
package final class LocalSimulator {
  /// The address it listens on: `https://127.0.0.1:PORT`.
  package var url: String { server.url }
  /// Where its inbox is, with `--inbox` among the options: `http://127.0.0.1:PORT/`.
  package var inboxURL: String? { server.inboxURL }
  /// The directory with its keys, certificates and records.
  package let directory: String
  package var processID: Int32 { server.process.pid }

  private let server: SimulatorServer

  private static let keyID = "SIMKEY0001"
  private static let teamID = "SIMTEAM001"

  /// Starts the simulator on a free port and waits until it listens.
  ///
  /// - Parameters:
  ///   - directory: The directory for its keys and records; created if missing.
  ///   - options: Further arguments for its command line.
  /// - Throws: If the binary is neither in this process's folder nor on PATH, or does not start.
  package init(directory: String, options: [String] = []) throws {
    self.directory = directory
    server = try SimulatorServer("apns-simulator", directory: directory, options: options)
  }

  /// The environment variables for a service that uses it.
  package var environment: [String: String] {
    [
      "APNS_KEY_ID": Self.keyID, "APNS_TEAM_ID": Self.teamID,
      "APNS_PRIVATE_KEY_PATH": "\(directory)/AuthKey_\(Self.keyID).p8",
      "APNS_CUSTOMER_BUNDLE_ID": "com.example.customer",
      "APNS_DRIVER_BUNDLE_ID": "com.example.driver", "APNS_PRODUCTION_URL": url,
      "APNS_PRODUCTION_CHANNELS_URL": url,
      "APNS_CA_FILE": "\(directory)/ca.pem",
    ]
  }

  /// The file with the received requests, one JSON object per line.
  package var records: String { directory + "/requests.jsonl" }

  /// Ends the simulator.
  package func stop() { server.stop() }
}

/// Finds the project's own binaries.
package enum LocalBinary {
  /// Returns the path of a binary: in the folder of this process's own binary, or on PATH.
  package static func path(_ name: String) throws(LocalBinaryError) -> String {
    let own = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
    let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
    let folders =
      [URL(fileURLWithPath: own).deletingLastPathComponent().path]
      + path.split(separator: ":").map(String.init)
    let found = folders.map { $0 + "/" + name }
      .first { FileManager.default.isExecutableFile(atPath: $0) }
    guard let found else {
      throw LocalBinaryError(
        text: "\(name) is neither next to this binary nor on PATH; make build makes it")
    }
    return found
  }
}

/// A binary that can't be found or does not start.
package struct LocalBinaryError: Error, Hashable, Sendable, CustomStringConvertible {
  let text: String

  /// What is wrong, and what to do.
  package var description: String { text }
}
