/// What the connections to one of Apple's worlds are doing.
package struct TransportStatistics: Hashable, Sendable {
  /// Connections that take pushes.
  package var openConnections = 0

  /// Pushes that were sent, or are being sent, and have no answer yet. A connection under load
  /// tells it about once a turn, so it may be a moment old.
  package var inFlight = 0

  /// Pushes that wait for a connection or a free stream.
  package var queued = 0

  /// How many streams each of the open connections may have, in the order of their opening.
  package var streamLimits: [Int] = []

  /// Connections opened since the client was made.
  package var openedTotal = 0
}
