/// What the old protocol says before it hangs up; it has no word for success.
package struct ErrorPacket: Hashable, Sendable {
  /// Apple's numbers.
  package enum Status: UInt8, Hashable, Sendable {
    /// The frame can't be read, or its payload is no JSON object.
    case processing = 1
    /// No device token.
    case missingToken = 2
    /// No payload.
    case missingPayload = 4
    /// A token of another length than 32 bytes.
    case tokenSize = 5
    /// A payload of more than 4096 bytes.
    case payloadSize = 7
    /// The token reaches no phone.
    case invalidToken = 8
    /// The server goes; the identifier is that of the last push that was committed.
    case shutdown = 10
    /// None of these: no such command.
    case unknown = 255
  }

  /// Why.
  package var status: Status
  /// The frame's identifier; 0 where it is not known.
  package var identifier: UInt32

  /// What the old protocol says before it hangs up.
  package init(_ status: Status, identifier: UInt32) {
    self.status = status
    self.identifier = identifier
  }

  /// As it is sent: command 8, status, identifier.
  package var bytes: [UInt8] {
    [8, status.rawValue] + [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: identifier >> $0) }
  }
}
