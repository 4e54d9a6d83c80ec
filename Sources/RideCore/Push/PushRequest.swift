/// One push, ready to be sent.
package struct PushRequest: Hashable, Sendable {
  /// Identifies this push in its report; the sender chooses it and keeps it unique.
  package var ticket: UInt64

  /// The APNs environment that the token belongs to.
  package var environment: APNsEnvironment

  /// The recipient.
  package var address: PushAddress

  /// The `apns-` headers.
  package var headers: PushHeaders

  /// The JSON body, in UTF-8.
  package var payload: [UInt8]

  /// The lane of the push, which is its app; pushes in different lanes do not wait for each other.
  package var lane = ""

  /// When the push expires; pushes with less time left are sent first.
  package var validUntil: Timestamp?

  /// The time until which its sender relies on what it knows of the recipient; nil for any time.
  ///
  /// A push that has no stream by then is reported as `outdated`: its sender reads the recipient
  /// again before it submits the push again.
  package var freshUntil: Timestamp?

  /// How long it may still wait for a stream; nil for the transport's own limit.
  package var sendWithin: Duration?

  /// How long what is known of a recipient is relied on.
  package static let freshness: Duration = .seconds(1)

  package init(
    ticket: UInt64, environment: APNsEnvironment, address: PushAddress, headers: PushHeaders,
    payload: [UInt8]
  ) {
    self.ticket = ticket
    self.environment = environment
    self.address = address
    self.headers = headers
    self.payload = payload
  }

  /// The maximum number of bytes that APNs accepts in the body of a push to a phone.
  package static let payloadLimit = 4096

  /// The maximum number of bytes that APNs accepts in the body of a broadcast.
  package static let broadcastLimit = 5120
}

/// How urgently APNs delivers.
package enum PushPriority: Int, StoredAsRaw, Hashable, Sendable {
  /// Delivery at once.
  case immediate = 10

  /// Delivery when it suits the phone's battery; APNs may group or drop the push.
  case powerAware = 5

  /// Delivery only if it does not wake the phone.
  case unobtrusive = 1
}

/// How long APNs may store a push for a phone that it cannot reach.
///
/// There is no third case: without the header Apple may store the push for 30 days, longer than any
/// event of a ride stays valid.
package enum PushExpiration: Hashable, Sendable {
  /// One attempt, never stored: `apns-expiration: 0`.
  case neverStore

  /// Stored until this time, in whole seconds; APNs may deliver a little later.
  case at(Timestamp)

  /// The header's value: UNIX seconds in UTC.
  package var epochSeconds: Int64 {
    switch self {
    case .neverStore: 0
    case .at(let instant): max(1, instant.epochSeconds)
    }
  }
}

/// The `apns-` headers of one push.
package struct PushHeaders: Hashable, Sendable {
  /// `apns-id`: the same for every attempt of a push, so that logs on both sides can be matched.
  package var id: PushID

  /// `apns-topic`: the app's bundle ID, with a suffix for some push types.
  package var topic: String

  package var pushType: PushType

  package var priority: PushPriority

  /// `apns-expiration`, always present.
  package var expiration: PushExpiration

  /// `apns-collapse-id`: pushes with the same value replace each other on the screen.
  package var collapseID: CollapseID?

  package init(
    id: PushID, topic: String, pushType: PushType, priority: PushPriority,
    expiration: PushExpiration, collapseID: CollapseID? = nil
  ) {
    self.id = id
    self.topic = topic
    self.pushType = pushType
    self.priority = priority
    self.expiration = expiration
    self.collapseID = collapseID
  }
}

/// A value of `apns-collapse-id`: 1 to 64 bytes of UTF-8 without control characters.
package struct CollapseID: Hashable, Sendable {
  package let text: String

  /// Nil if APNs would refuse the text with `BadCollapseId` (empty or over 64 bytes), or if it is
  /// not a valid header value.
  package init?(_ text: String) {
    guard (1...64).contains(text.utf8.count) else { return nil }
    guard text.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7f }) else { return nil }
    // HTTP/2 forbids a space at either end of a header value.
    guard text.utf8.first != 0x20, text.utf8.last != 0x20 else { return nil }
    self.text = text
  }
}

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
