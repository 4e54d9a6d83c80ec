/// What a session tells while it lives, beside the answers to its runs.
package enum SessionEvent: Hashable, Sendable {
  /// A connection is usable and its LISTENs are in force: notifications before this moment may
  /// have been missed, so it is time to look for work. The version is as `server_version_num`.
  case connected(serverVersion: Int, backendPID: Int32)
  /// A connection that was usable is gone; the session tries to get another.
  case disconnected(reason: String)
  /// An attempt to connect failed; the session goes on trying.
  case unreachable(reason: String)
  /// A NOTIFY came on a channel that the session listens to.
  case notification(channel: String, payload: String)
}
