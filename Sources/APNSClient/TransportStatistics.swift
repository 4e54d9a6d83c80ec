/// Statistics of the connections to one APNs environment.
package struct TransportStatistics: Hashable, Sendable {
  /// Connections that accept pushes.
  package var openConnections = 0

  /// Pushes that were sent, or are being sent, and have no answer yet.
  ///
  /// A connection under load reports this about once per turn, so the number may be slightly out of
  /// date.
  package var inFlight = 0

  /// Pushes that wait for a connection or a free stream.
  package var queued = 0

  /// The stream limit of each open connection, in the order of their opening.
  package var streamLimits: [Int] = []

  /// Connections opened since the client was created.
  package var openedTotal = 0
}
