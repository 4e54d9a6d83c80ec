/// What a push is sent to, as its decision read it.
package struct PushRecipient: Hashable, Sendable {
  /// The table and the ID of its row.
  package var kind: TokenInvalidation.Kind
  package var id: Int64
  package var token: String
  /// The person; nil if the push is addressed to the token, whoever has it.
  package var owner: OwnerID?

  package init(kind: TokenInvalidation.Kind, id: Int64, token: String, owner: OwnerID?) {
    self.kind = kind
    self.id = id
    self.token = token
    self.owner = owner
  }
}

extension PlannedPush {
  /// The phone or card whose row the decision read; nil for a channel, or a token without a row.
  package var readRecipient: PushRecipient? {
    if case .registration(let registration) = address {
      return entry.phone.map {
        PushRecipient(kind: .phone, id: $0, token: registration.text, owner: entry.owner)
      }
    }
    guard case .device(let token) = address else { return nil }
    if case .activity(let id)? = entry.card {
      return PushRecipient(kind: .activity, id: id, token: token.hex, owner: entry.owner)
    }
    if let id = entry.startToken {
      return PushRecipient(kind: .start, id: id, token: token.hex, owner: entry.owner)
    }
    return entry.phone.map {
      PushRecipient(kind: .phone, id: $0, token: token.hex, owner: entry.owner)
    }
  }
}
