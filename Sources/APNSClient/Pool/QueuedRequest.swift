/// A push on its way to a connection.
struct QueuedRequest<Push> {
  let push: Push

  /// Its place among all pushes of the pool; one that is sent again keeps it.
  let order: UInt64

  /// When it must have been reported.
  let deadline: MonotonicTime

  /// Until when it is of use, in microseconds since 1970.
  let validUntil: Int64

  /// When it must have left: what is of no use any more is not sent.
  let sendDeadline: MonotonicTime

  /// How often it was taken back after a connection had it.
  var resends: UInt8 = 0
}

extension QueuedRequest where Push: Routed {
  init(push: Push, order: UInt64, deadline: MonotonicTime, sendDeadline: MonotonicTime? = nil) {
    self.init(
      push: push, order: order, deadline: deadline, validUntil: push.validUntil,
      sendDeadline: min(deadline, sendDeadline ?? deadline))
  }
}

extension QueuedRequest: Sendable where Push: Sendable {}
