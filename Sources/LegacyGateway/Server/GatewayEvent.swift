/// What the gateway has to tell whoever keeps its log: never a token, never a payload.
package enum GatewayEvent: Sendable {
  /// A connection was turned away: a handshake that failed, or a certificate for another app.
  case turnedAway(peer: String, reason: String)
  /// A sender has gone, or was sent away.
  case senderEnded(peer: String, pushes: Int, repeats: Int, how: String)
  /// Somebody has read the feedback port.
  case feedbackRead(peer: String, phones: Int)
  /// Pushes of a sender that has gone could not be committed, and nobody can be told.
  case lost(peer: String, pushes: Int)
  /// The database did not answer as it should.
  case failed(String)
  /// Unfinished handshakes were cut off, since there were too many.
  case handshakesEvicted(Int)
  /// All places are taken: further senders wait.
  case full(Int)
}
