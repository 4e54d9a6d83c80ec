/// One push, ready for the wire.
package struct PushRequest: Hashable, Sendable {
  /// Names this push in its report; the sender chooses it and keeps it unique.
  package var ticket: UInt64

  /// Which of Apple's worlds the token belongs to.
  package var environment: APNsEnvironment

  /// Whom it is for.
  package var address: PushAddress

  /// The `apns-` headers.
  package var headers: PushHeaders

  /// The JSON body, in UTF-8.
  package var payload: [UInt8]

  /// Whose push it is: the app. Pushes of different ones do not wait for each other.
  package var lane = ""

  /// Until when it is of use: what has less time goes first.
  package var validUntil: Timestamp?

  /// A push, ready for the wire.
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

  /// The most bytes that APNs accepts in the body of a push to a phone.
  package static let payloadLimit = 4096

  /// The most bytes that APNs accepts in the body of a broadcast.
  package static let broadcastLimit = 5120
}
