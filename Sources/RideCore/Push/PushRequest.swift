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
