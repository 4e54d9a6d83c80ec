/// A push that is queued for a connection or in flight on one.
struct QueuedRequest<Push> {
  let push: Push

  /// Its place among all pushes of the pool; a push that is sent again keeps it.
  let order: UInt64

  /// When it must have been reported.
  let deadline: MonotonicTime

  /// When it stops being of use, in microseconds since 1970.
  let validUntil: Int64

  /// When it must have been sent; a push that is of no more use is not sent.
  let sendDeadline: MonotonicTime

  /// How many times a connection has returned it unprocessed.
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
