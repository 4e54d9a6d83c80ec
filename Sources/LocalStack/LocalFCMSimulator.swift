internal import Foundation
internal import Glibc

/// An `fcm-simulator` process that ends when this process does, even by SIGKILL.
package final class LocalFCMSimulator {
  /// The address it listens on: `https://127.0.0.1:PORT`.
  package var url: String { server.url }
  /// Where its inbox is, with `--inbox` among the options: `http://127.0.0.1:PORT/`.
  package var inboxURL: String? { server.inboxURL }
  /// The directory with its service accounts, certificates and records.
  package let directory: String
  package var processID: Int32 { server.process.pid }

  private let server: SimulatorServer

  /// Starts the simulator on a free port and waits until it listens.
  ///
  /// - Parameters:
  ///   - directory: The directory for its files and records; created if missing.
  ///   - options: Further arguments for its command line.
  /// - Throws: If the binary is neither in this process's folder nor on PATH, or does not start.
  package init(directory: String, options: [String] = []) throws {
    self.directory = directory
    server = try SimulatorServer("fcm-simulator", directory: directory, options: options)
  }

  /// The environment variables for a service that uses it.
  package var environment: [String: String] {
    [
      "FCM_SERVICE_ACCOUNT_PATH": "\(directory)/service-account.json", "FCM_URL": url,
      "FCM_CA_FILE": "\(directory)/ca.pem",
    ]
  }

  /// The file with the received messages, one JSON object per line.
  package var records: String { directory + "/requests.jsonl" }

  /// The file with what each phone received, one JSON object per line.
  package var deliveries: String { directory + "/deliveries.jsonl" }

  /// Ends the simulator.
  package func stop() { server.stop() }
}
