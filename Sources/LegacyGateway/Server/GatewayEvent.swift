/// An event for the gateway's log; it never contains a token or a payload.
package enum GatewayEvent: Sendable {
  /// A connection was refused: its handshake failed, or its certificate is for another app.
  case turnedAway(peer: String, reason: String)
  /// A sender's connection ended.
  case senderEnded(peer: String, pushes: Int, repeats: Int, how: String)
  /// A peer has read the feedback port.
  case feedbackRead(peer: String, phones: Int)
  /// Pushes of a disconnected sender could not be committed, and the sender can't be notified.
  case lost(peer: String, pushes: Int)
  /// A call failed, in most cases to the database.
  case failed(String)
  /// Incomplete handshakes were cut off because there were too many.
  case handshakesEvicted(Int)
  /// The connection limit is reached: further senders wait.
  case full(Int)
}
