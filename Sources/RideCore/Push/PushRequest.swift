/// One push, ready for the wire.
public struct PushRequest: Hashable, Sendable {
  /// Names this push in its report; the sender chooses it and keeps it unique.
  public var ticket: UInt64

  /// Which of Apple's worlds the token belongs to.
  public var environment: APNsEnvironment

  /// Whom it is for.
  public var address: PushAddress

  /// The `apns-` headers.
  public var headers: PushHeaders

  /// The JSON body, in UTF-8.
  public var payload: [UInt8]

  /// Whose push it is: the app. Pushes of different ones do not wait for each other.
  public var lane = ""

  /// Until when it is of use: what has less time goes first.
  public var validUntil: Timestamp?

  /// A push, ready for the wire.
  public init(
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
  public static let payloadLimit = 4096

  /// The most bytes that APNs accepts in the body of a broadcast.
  public static let broadcastLimit = 5120
}
