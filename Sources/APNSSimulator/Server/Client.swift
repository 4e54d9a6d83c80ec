import SimulatorKit

/// The properties of a connection that rules and records depend on.
struct Client: Equatable, Sendable {
  let number: Int
  var certificate: ClientCertificate?
  var adoptedToken: AdoptedToken?
}

/// A connection's identity, as Apple keeps it: its certificate or the provider token in use.
final class ClientPeer: Peer {
  private var client: Client
  private let simulator: Simulator

  init(connection: Int, simulator: Simulator) {
    client = Client(number: connection)
    self.simulator = simulator
  }

  func authenticated(with certificate: PeerCertificate?) -> Int? {
    client.certificate = certificate.map(ClientCertificate.init)
    return certificate == nil ? nil : simulator.options.raisedStreamLimit
  }

  func omitsSettings() -> Bool { simulator.faults.strike(connection: client.number) }

  func react(to request: Request, stream: Int32, at time: WallTime) -> Reaction {
    var (reaction, token) = simulator.decide(request, stream: stream, from: client, at: time)
    if let token, token != client.adoptedToken?.token {
      // As at Apple, the first valid token raises the stream limit.
      if client.adoptedToken == nil { reaction.streamLimit = simulator.options.raisedStreamLimit }
      client.adoptedToken = AdoptedToken(token: token, adoptedAt: time.seconds)
    }
    return reaction
  }
}
