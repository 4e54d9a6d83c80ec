/// A push on its way to a connection.
struct Waiting<Push> {
  let push: Push

  /// Its place among all pushes of the pool; one that is sent again keeps it.
  let order: UInt64

  /// When it must have been reported.
  let deadline: Moment

  /// Until when it is of use, in microseconds since 1970.
  let usefulUntil: Int64

  /// When it must have left: what is of no use any more is not sent.
  let sendBy: Moment

  /// How often it was taken back after a connection had it.
  var resends: UInt8 = 0
}

extension Waiting where Push: Routed {
  init(push: Push, order: UInt64, deadline: Moment, sendBy: Moment? = nil) {
    self.init(
      push: push, order: order, deadline: deadline, usefulUntil: push.usefulUntil,
      sendBy: min(deadline, sendBy ?? deadline))
  }
}

extension Waiting: Sendable where Push: Sendable {}
