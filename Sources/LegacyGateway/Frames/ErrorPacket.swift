/// The error packet of the legacy protocol, sent before the connection closes; success has no
/// packet.
package struct ErrorPacket: Hashable, Sendable {
  /// Apple's numbers.
  package enum Status: UInt8, Hashable, Sendable {
    /// The frame is malformed, or its payload is not a JSON object.
    case processing = 1
    /// The device token is missing.
    case missingToken = 2
    /// The payload is missing.
    case missingPayload = 4
    /// The length of the token is not 32 bytes.
    case tokenSize = 5
    /// The payload has more than 4096 bytes.
    case payloadSize = 7
    /// The token reaches no phone.
    case invalidToken = 8
    /// The server shuts down; the identifier is that of the last committed push.
    case shutdown = 10
    /// None of these: the command is unknown.
    case unknown = 255
  }

  package var status: Status
  /// The frame's identifier; 0 if it is not known.
  package var identifier: UInt32

  package init(_ status: Status, identifier: UInt32) {
    self.status = status
    self.identifier = identifier
  }

  /// The wire form: command 8, status, identifier.
  package var bytes: [UInt8] {
    [8, status.rawValue] + [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: identifier >> $0) }
  }
}
