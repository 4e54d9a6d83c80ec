/// Sends pushes to APNs.
package protocol PushTransport: Sendable {
  /// Accepts pushes and returns at once; each ends in exactly one report, within its deadline.
  ///
  /// Reports come in groups, in the order in which the pushes end, on a thread of the transport's
  /// own: `report` must not block. A push that is submitted after `close` is reported as `unsent`.
  func submit(_ requests: [PushRequest], report: @escaping @Sendable ([PushReport]) -> Void)

  /// Stops accepting pushes, waits this long for answers to those in flight, and ends.
  func close(within limit: Duration) async

  /// Whether APNs can be reached, for the environments in which that is known.
  func reachability() -> [APNsEnvironment: Reachability]

  /// Begins to open a connection to an environment, without a push, unless there is one.
  func connect(to environment: APNsEnvironment)
}

/// Whether a sender can reach one environment of APNs.
package enum Reachability: Hashable, Sendable {
  /// A connection is open.
  case connected
  /// No connection is open, and the last attempt to open one failed.
  case unreachable
}
