import SimulatorKit

extension FaultReader {
  /// Reads faults of pushes, broadcasts and channel calls.
  static let pushes = FaultReader(
    keys: ["topic", "channel"], calls: ["push"] + ChannelCall.Kind.allCases.map(\.rawValue),
    foldsTokens: true)
}
