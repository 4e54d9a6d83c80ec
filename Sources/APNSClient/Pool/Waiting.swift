/// A push on its way to a connection.
struct Waiting<Push> {
  let push: Push

  /// Its place among all pushes of the pool; one that is sent again keeps it.
  let order: UInt64

  /// When it must have been reported.
  let deadline: Moment

  /// How often it was taken back after a connection had it.
  var resends: UInt8 = 0
}

extension Waiting: Sendable where Push: Sendable {}
