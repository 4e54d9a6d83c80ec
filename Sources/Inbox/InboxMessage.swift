package import SimulatorKit

/// What happened to a message.
package enum MessageFate: Hashable, Sendable {
  /// It was refused, or a fault kept it from being processed.
  case refused
  /// It was accepted, and the phone drops it.
  case dropped
  /// It is kept for a phone that can't be reached.
  case waiting
  case delivered
  /// It was accepted and never reached the phone, for this reason in the simulator's words.
  case lost(String)

  package var word: String {
    switch self {
    case .refused: "refused"
    case .dropped: "dropped"
    case .waiting: "waiting"
    case .delivered: "delivered"
    case .lost(let word): word
    }
  }
}

/// A message that a simulator received.
package struct InboxMessage: Sendable {
  /// Who a message is for.
  package struct Address: Hashable, Sendable {
    /// The token, registration or channel; empty if the request names none.
    package var text: String
    /// The phone, if more is known of it than the token.
    package var phone: String?

    package init(_ text: String, phone: String? = nil) {
      self.text = text
      self.phone = phone
    }

    /// The phone that the inbox shows it on.
    var owner: String { phone ?? text }
  }

  package let address: Address
  package let type: String
  /// The app that it is for, in few letters.
  package let app: String
  package let receivedAt: WallTime
  /// The line of the record file, without its end.
  package let line: [UInt8]
  package var fate: MessageFate

  package init(
    to address: Address, type: String, app: String, at receivedAt: WallTime, line: [UInt8],
    _ fate: MessageFate
  ) {
    self.address = address
    self.type = type
    self.app = app
    self.receivedAt = receivedAt
    self.line = line.last == UInt8(ascii: "\n") ? line.dropLast() : line
    self.fate = fate
    decidedAt = receivedAt
  }

  /// Counts messages from 1 on.
  var sequence = 0
  var decidedAt: WallTime
  /// The revision of the inbox that brought its fate.
  var revision = 0
}

extension InboxMessage {
  /// The record with its number and its fate.
  func append(to output: inout [UInt8], screen: [UInt8]? = nil) {
    output += "{\"sequence\":\(sequence),\"outcome\":\"\(fate.word)\",\"outcome_at\":".utf8
    output += decidedAt.decimalSeconds.utf8
    output += ",\"phone\":".utf8
    output.appendJSONString(address.owner)
    output += ",\"type\":".utf8
    output.appendJSONString(type)
    if let screen { output += ",\"screen\":".utf8 + screen }
    output.append(UInt8(ascii: ","))
    output += line.dropFirst()
  }
}
