import Foundation
import TestSupport

typealias RunningSimulator = SimulatorProcess

extension SimulatorProcess {
  convenience init(_ words: [String] = [], directory: URL? = nil, logs: Bool = false) throws {
    try self.init("apns-simulator", words, directory: directory, logs: logs)
  }

  static let binary = binary("apns-simulator")

  var keyPath: String { directory.appendingPathComponent("AuthKey_SIMKEY0001.p8").path }
}
