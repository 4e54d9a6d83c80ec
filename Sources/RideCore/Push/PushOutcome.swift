package import Base

/// The outcome of one push; every push that a transport receives has exactly one.
package enum PushOutcome: Hashable, Sendable {
  /// HTTP 200: APNs or FCM accepted the push.
  ///
  /// Delivery to the device is not confirmed.
  case accepted

  /// APNs or FCM responded with another status.
  case refused(Refusal)

  /// The push provably did not reach APNs, or APNs reported that it did not process it.
  case unsent(UnsentCause)

  /// The push was sent and no response arrived: APNs may have accepted it.
  case unanswered(UnansweredCause)
}

/// A response of APNs or FCM other than 200.
package struct Refusal: Hashable, Sendable {
  /// The HTTP status, which is available even if the body is unreadable.
  package var status: Int

  /// Apple's reason string, or the word of FCM's answer; nil if the body has none.
  package var reason: String?

  /// What FCM adds to its word, for people; nil for nothing.
  package var detail: String?

  /// With 410: when APNs found that the token is no longer valid. FCM states no time: with
  /// UNREGISTERED it is when the push left, so that a later registration stays.
  package var timestamp: Timestamp?

  /// The time at APNs, in whole seconds; nil if the response does not state it.
  package var serverTime: Timestamp?

  /// The value of `retry-after`: how long to wait; nil if the response has none.
  package var retryAfter: Duration?

  /// Whether a receiver of posts answered, and not APNs.
  package var isByReceiver = false

  /// The reason if Google gives no access token: not FCM has answered, and no push was sent.
  package static let tokenEndpoint = "TOKEN_ENDPOINT"

  /// The longest wait that an answer may ask for.
  ///
  /// Apple documents no `Retry-After` for APNs, and asks for 15 minutes after some errors: a ride
  /// is over by then. Later pushes to the phone wait as long. It limits what FCM asks for, too.
  package static let longestWait: Duration = .seconds(300)

  /// How long nothing of the project is sent after FCM's answer that its quota is used up.
  package var quotaWait: Duration { min(retryAfter ?? .seconds(60), Self.longestWait) }

  /// The longest wait that the receiver of a post may ask for; `expires` ends it earlier.
  package static let longestReceiverWait: Duration = .seconds(86_400)

  package init(
    status: Int, reason: String? = nil, timestamp: Timestamp? = nil, retryAfter: Duration? = nil
  ) {
    self.status = status
    self.reason = reason
    self.timestamp = timestamp
    self.retryAfter = retryAfter
  }
}

/// Why APNs did not process a push.
package enum UnsentCause: Hashable, Sendable {
  /// No connection was open or could be opened in time; the text describes the last attempt.
  case noConnection(String)

  /// APNs refused the client certificate in the TLS handshake; the text is the TLS library's.
  case certificateRefused(String)

  /// Its stream was above the last one that a GOAWAY frame named; `reason` is that of the frame.
  case goAway(reason: String?)

  /// The server refused the stream (`REFUSED_STREAM`).
  case refusedStream

  /// APNs responded that the connection is at fault, on this and every other connection tried.
  case turnedAway(Refusal)

  /// It waited for a free stream until its deadline.
  case queuedTooLong

  /// The transport was closed before the push was sent.
  case closed

  /// It was not tried: an earlier push to its phone is retried first, or its turn came too late.
  case queuedBehind

  /// Pushes of its app are paused for this long.
  case paused(for: Duration, by: PauseCause = .refused)

  /// What its sender knew of the recipient was too old when a stream was free.
  ///
  /// It was not sent, and may be submitted again within this time.
  case outdated(left: Duration)

  /// It is decided again, by this node or another.
  case handedBack(HandBack)

  /// It cannot be sent, regardless of retries; the text gives the reason.
  case invalid(String)

  /// Its app has no credential with which APNs accepts it; the text names what is missing.
  case noCredential(String)

  /// Its receiver answered an earlier post of the rule with 410, or is not configured here.
  case receiverOff(String)
}

/// Why the pushes of an app are paused.
package enum PauseCause: String, Hashable, Sendable, CaseIterable {
  /// Connections fail, or requests are not answered: the network, DNS or APNs itself.
  case unreachable
  /// APNs answers and refuses: keys, certificates, topics, or APNs is overloaded.
  case refused
}

/// Why a push that waited to be sent is decided again.
package enum HandBack: Hashable, Sendable {
  /// Its phone or card is gone or another person's by now.
  case recipientChanged
  /// Its phone or card could not be read again.
  case recipientUnread
  /// This node has no connection to APNs, and another one has.
  case noRoute
}

/// Why the outcome of a push that was sent is unknown.
package enum UnansweredCause: Hashable, Sendable {
  /// Its deadline passed.
  case timeout

  /// The connection ended first; the text describes how.
  case connectionLost(String)

  /// The server reset its stream; the text is the name of the HTTP/2 error code.
  case reset(String)
}

/// The outcome of the push with a ticket.
package struct PushReport: Hashable, Sendable {
  /// The ticket of the request.
  package var ticket: UInt64

  package var outcome: PushOutcome

  /// The value of `apns-unique-id`, which APNs sends in its sandbox and for broadcasts.
  package var uniqueID: String?

  package init(ticket: UInt64, outcome: PushOutcome, uniqueID: String? = nil) {
    self.ticket = ticket
    self.outcome = outcome
    self.uniqueID = uniqueID
  }
}

/// What one outcome means for the push and its phone.
struct Verdict: Equatable {
  enum Kind: Equatable {
    /// It was accepted.
    case accepted
    /// It will never be accepted.
    case rejected
    /// It may be sent again, after this delay at the earliest.
    case again(atLeast: Duration)
  }

  var kind: Kind
  /// The ledger's reason: Apple's reason string, if APNs gave one.
  var reason: LedgerReason?
  /// Since when the phone's token is reported as gone; nil if it is not.
  var phoneGone: Timestamp?
  /// Whether the token or channel that it was sent to is gone, with or without a time.
  var isGone = false
  /// Whether APNs accepted it, or may have accepted it.
  var mayHaveArrived = false
  /// Whether it was handed to APNs, or to a network that did not deliver it there.
  var wasTried = true

  init(_ outcome: PushOutcome, over network: PushNetwork = .production) {
    switch outcome {
    case .accepted:
      self.init(kind: .accepted)
      mayHaveArrived = true
    case .refused(let refusal): self.init(refusal, network)
    case .unsent(.invalid(let text)):
      self.init(kind: .rejected, reason: LedgerReason(.invalid(text)))
    case .unsent(.noCredential(let text)):
      self.init(kind: .rejected, reason: LedgerReason(.noCredential(text), over: network))
    case .unsent(.receiverOff(let text)):
      self.init(kind: .rejected, reason: LedgerReason(.receiverGone, text))
    case .unsent(.turnedAway(let refusal)): self.init(refusal, network)
    case .unsent(let cause) where cause.wasKept:
      var wait = Duration.zero
      if case .paused(let pause, _) = cause { wait = pause }
      self.init(kind: .again(atLeast: wait), reason: LedgerReason(cause, over: network))
      wasTried = false
    case .unsent(let cause):
      self.init(kind: .again(atLeast: .zero), reason: LedgerReason(cause, over: network))
    // Sending it twice is safe: both carry the same ID and collapse on the screen.
    case .unanswered(let cause):
      self.init(kind: .again(atLeast: .zero), reason: LedgerReason(cause))
      mayHaveArrived = true
    }
  }

  private init(_ refusal: Refusal, _ network: PushNetwork) {
    let reason = LedgerReason(refusal)
    if refusal.rule.push == .rejected {
      self.init(kind: .rejected, reason: reason)
      isGone = refusal.rule.token == .gone
      if isGone { phoneGone = refusal.timestamp }
    } else {
      let least = Self.leastWait(after: refusal.status, network)
      let longest = refusal.isByReceiver ? Refusal.longestReceiverWait : Refusal.longestWait
      let wait = min(refusal.retryAfter ?? least, longest)
      self.init(kind: .again(atLeast: wait), reason: reason)
    }
  }

  /// Returns how long a refused push waits if its answer does not say so.
  ///
  /// Google asks for a minute after its quota is used up, and for ten seconds after its own errors.
  private static func leastWait(after status: Int, _ network: PushNetwork) -> Duration {
    switch (network, status) {
    case (.android, 408), (.android, 500...): .seconds(10)
    case (.android, _): .seconds(60)
    case (_, 500...): .seconds(5)
    default: .seconds(2)
    }
  }

  private init(kind: Kind, reason: LedgerReason? = nil) {
    self.kind = kind
    self.reason = reason
  }
}

extension PushOutcome {
  /// The ledger's reason for this outcome, or `accepted`.
  package var reason: String { Verdict(self).reason?.text ?? "accepted" }
}

extension UnsentCause {
  /// Whether the push was not tried, and goes again.
  var wasKept: Bool {
    switch self {
    case .closed, .queuedBehind, .paused, .outdated, .handedBack: true
    case .noConnection, .certificateRefused, .goAway, .refusedStream, .turnedAway, .queuedTooLong,
      .invalid, .noCredential, .receiverOff:
      false
    }
  }
}

extension PushOutcome {
  /// Whether the push is due again at once, because nothing is known against it or its phone.
  var isHandedBack: Bool {
    switch self {
    case .unsent(.closed), .unsent(.outdated), .unsent(.handedBack): true
    default: false
    }
  }
}
