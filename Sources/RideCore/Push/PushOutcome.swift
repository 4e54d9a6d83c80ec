/// What became of one push; every push handed to a transport ends in exactly one of these.
package enum PushOutcome: Hashable, Sendable {
  /// APNs answered 200: it took the push. Whether a phone showed it is not known to anybody.
  case accepted

  /// APNs answered with another status.
  case refused(Refusal)

  /// It provably did not reach APNs, or APNs said that it did not look at it.
  case unsent(UnsentCause)

  /// It left, and no answer came: APNs may have taken it.
  case unanswered(UnansweredCause)
}

/// An answer of APNs other than 200.
package struct Refusal: Hashable, Sendable {
  /// The HTTP status, which no unreadable body hides.
  package var status: Int

  /// Apple's reason string; nil where the body held none.
  package var reason: String?

  /// With 410: when APNs learned that the token is no longer valid.
  package var timestamp: Timestamp?

  /// What time it was at APNs, in whole seconds, where the answer said so.
  package var serverTime: Timestamp?

  /// Where the answer had `retry-after`: how long to wait.
  package var retryAfter: Duration?

  /// An answer of APNs other than 200.
  package init(
    status: Int, reason: String? = nil, timestamp: Timestamp? = nil, retryAfter: Duration? = nil
  ) {
    self.status = status
    self.reason = reason
    self.timestamp = timestamp
    self.retryAfter = retryAfter
  }
}

/// Why a push was not processed by APNs.
package enum UnsentCause: Hashable, Sendable {
  /// No connection stood or could be opened in time; the text says what the last attempt met.
  case noConnection(String)

  /// Its stream lay above the last one that a GOAWAY named; the reason is that frame's.
  case goAway(reason: String?)

  /// The server refused the stream (`REFUSED_STREAM`).
  case refusedStream

  /// APNs answered that the connection is at fault, and did so on every other one that was tried.
  case turnedAway(Refusal)

  /// It waited for a free stream until its deadline.
  case queuedTooLong

  /// The transport was closed before it left.
  case closed

  /// It was not tried: an earlier push to its phone goes again first, or its turn came too late.
  case heldBack

  /// Pushes of its app are paused for so long, since APNs refuses them.
  case paused(for: Duration)

  /// It can't be sent at all, whatever is tried; the text says why.
  case invalid(String)
}

/// Why the fate of a push that left is not known.
package enum UnansweredCause: Hashable, Sendable {
  /// Its deadline passed.
  case timeout

  /// The connection ended first; the text says how.
  case connectionLost(String)

  /// The server reset its stream; the HTTP/2 error code is given by name.
  case reset(String)
}

/// The outcome of the push that a ticket names.
package struct PushReport: Hashable, Sendable {
  /// The request's ticket.
  package var ticket: UInt64

  /// What became of it.
  package var outcome: PushOutcome

  /// The outcome of the push that a ticket names.
  package init(ticket: UInt64, outcome: PushOutcome) {
    self.ticket = ticket
    self.outcome = outcome
  }
}
