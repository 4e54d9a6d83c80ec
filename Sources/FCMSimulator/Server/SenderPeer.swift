import SimulatorKit

/// One connection of a sender; FCM keeps nothing of it.
final class SenderPeer: Peer {
  private let connection: Int
  private let simulator: Simulator

  init(connection: Int, simulator: Simulator) {
    self.connection = connection
    self.simulator = simulator
  }

  func authenticated(with certificate: PeerCertificate?) -> Int? { nil }

  func omitsSettings() -> Bool { simulator.faults.strike(connection: connection) }

  func react(to request: Request, stream: Int32, at time: WallTime) -> Reaction {
    simulator.react(to: request, stream: stream, connection: connection, at: time)
  }
}
