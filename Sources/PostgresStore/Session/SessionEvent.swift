/// An event of a session, apart from the results of its transactions.
package enum SessionEvent: Hashable, Sendable {
  /// A connection is usable and its LISTENs are in effect.
  ///
  /// Notifications sent before this moment may have been missed, so the receiver must check for
  /// work. The version is in the form of `server_version_num`.
  case connected(serverVersion: Int, backendPID: Int32)
  /// A usable connection was lost; the session reconnects.
  case disconnected(reason: String)
  /// An attempt to connect failed; the session keeps trying.
  case unreachable(reason: String)
  /// A NOTIFY arrived on a channel that the session listens to.
  case notification(channel: String, payload: String)
}
