package import Base

/// One push, ready to be sent.
package struct PushRequest: Hashable, Sendable {
  /// Identifies this push in its report; the sender chooses it and keeps it unique.
  package var ticket: UInt64

  /// The environment of APNs that the token belongs to, or FCM.
  package var network: PushNetwork

  /// The recipient.
  package var address: PushAddress

  /// The `apns-` headers; FCM gets none, and the ledger records them.
  package var headers: PushHeaders

  /// The JSON body, in UTF-8.
  package var payload: [UInt8]

  /// The lane of the push, which is its app; pushes in different lanes do not wait for each other.
  package var lane = ""

  /// The time from which it is no longer sent; pushes with less time left go first.
  package var validUntil: Timestamp

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
    ticket: UInt64 = 0, network: PushNetwork, address: PushAddress, headers: PushHeaders,
    payload: [UInt8], validUntil: Timestamp = Timestamp(microseconds: .max)
  ) {
    self.ticket = ticket
    self.network = network
    self.address = address
    self.headers = headers
    self.payload = payload
    self.validUntil = validUntil
  }

  /// The maximum number of bytes that APNs accepts in the body of a push to a phone.
  package static let payloadLimit = 4096

  /// The maximum number of bytes of a message to FCM; its keys and values may have 4096.
  package static let messageLimit = 16_384

  /// The maximum number of bytes that APNs accepts in the body of a broadcast.
  package static let broadcastLimit = 5120
}
