/// What a simulator does with requests; the server does the rest.
package protocol Service: AnyObject {
  var statistics: Statistics { get set }

  /// Returns the counterpart of a new connection.
  func peer(connection: Int) -> any Peer

  /// Writes records before any answer of the turn is sent, so that a client that has the answer
  /// finds them.
  func flushRecords()
}

/// What a service knows of one connection.
package protocol Peer: AnyObject {
  /// The TLS handshake is complete.
  ///
  /// - Returns: the stream limit to announce now; nil leaves it.
  func authenticated(with certificate: PeerCertificate?) -> Int?

  /// Returns whether a fault keeps back the SETTINGS with which a connection of HTTP/2 begins.
  func omitsSettings() -> Bool

  func react(to request: Request, stream: Int32, at time: WallTime) -> Reaction
}

/// The settings of a server.
package struct ServerSettings: Equatable, Sendable {
  package var port: UInt16
  /// The header of the ID with which all requests are accepted unread; nil reads them.
  package var sinkHeader: String?
  package var initialStreams: Int
  package var latencyMilliseconds: Int
  package var isQuiet: Bool
  package var exitsWithStandardInput: Bool
  /// Whether pings that ask about no request end the connection.
  package var refusesIdlePings: Bool

  package init(
    port: UInt16, sinkHeader: String?, initialStreams: Int, latencyMilliseconds: Int,
    isQuiet: Bool, exitsWithStandardInput: Bool, refusesIdlePings: Bool = false
  ) {
    self.port = port
    self.sinkHeader = sinkHeader
    self.initialStreams = initialStreams
    self.latencyMilliseconds = latencyMilliseconds
    self.isQuiet = isQuiet
    self.exitsWithStandardInput = exitsWithStandardInput
    self.refusesIdlePings = refusesIdlePings
  }
}
