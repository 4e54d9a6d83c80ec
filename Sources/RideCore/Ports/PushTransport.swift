/// Sends pushes to APNs and FCM.
package protocol PushTransport: Sendable {
  /// Accepts pushes and returns at once; each ends in exactly one report, within its deadline.
  ///
  /// Reports come in groups, in the order in which the pushes end, on a thread of the transport's
  /// own: `report` must not block. A push that is submitted after `close` is reported as `unsent`.
  func submit(_ requests: [PushRequest], report: @escaping @Sendable ([PushReport]) -> Void)

  /// Stops accepting pushes, waits this long for answers to those in flight, and ends.
  func close(within limit: Duration) async

  /// Whether the services can be reached, for the networks of which that is known.
  func reachability() -> [PushNetwork: Reachability]

  /// Begins to open a connection to a network, without a push, unless there is one.
  func connect(to network: PushNetwork)
}

/// Whether a sender can reach one network.
package enum Reachability: Hashable, Sendable {
  /// A connection is open.
  case connected
  /// No connection is open, and the last attempt to open one failed.
  case unreachable
}
