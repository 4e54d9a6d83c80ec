import Base
import PostgresStore
import RideCore
import Timeline

/// Reads what RidePulse decided at the time of an old sender's log.
struct ComparedLedger {
  let session: PostgresSession
  /// The rules at hand; nil if they can't be used.
  let configuration: EngineConfiguration?

  /// What the phones of a person share.
  private struct Key: Hashable {
    let ride: RideID
    let event: String
    let rule: String
    let app: String
    let owner: OwnerID
    let occurredAt: Timestamp

    init(_ message: LedgerMessage) {
      (ride, event, rule) = (message.ride, message.event, message.rule)
      (app, owner, occurredAt) = (message.app, message.owner, message.occurredAt)
    }
  }

  /// Returns what was decided for people, and up to a window before and after the range.
  func pushes(
    in range: Range<Timestamp>, _ window: Duration, _ kinds: KindMap
  ) async throws -> [NewPush] {
    var messages: [Key: LedgerMessage] = [:]
    try await LedgerMessages(session: session).read(
      from: range.lowerBound - window, to: range.upperBound + window, names: kinds.names,
      digest: configuration?.rules.digest
    ) { page in
      for message in page { messages[Key(message), default: message].add(message) }
    }
    return messages.values.map(NewPush.init).sorted {
      ($0.at, $0.person.text, $0.rule, $0.ride.text) < (
        $1.at, $1.person.text, $1.rule, $1.ride.text
      )
    }
  }
}

extension LedgerMessage {
  /// Adds what was decided for other phones of the person.
  fileprivate mutating func add(_ other: LedgerMessage) {
    sentAt = [sentAt, other.sentAt].compactMap(\.self).min()
    coveredAt = [coveredAt, other.coveredAt].compactMap(\.self).min()
    decidedAt = min(decidedAt, other.decidedAt)
    isOfRules = isOfRules && other.isOfRules
  }
}

extension NewPush {
  fileprivate init(_ message: LedgerMessage) {
    let outcome: Outcome =
      if message.sentAt != nil {
        .sent
      } else if message.coveredAt != nil {
        .covered
      } else {
        .notSent(status: message.status, reasonCode: message.reasonCode)
      }
    self.init(
      at: message.sentAt ?? message.coveredAt ?? message.decidedAt, person: message.owner,
      app: App(rawValue: message.app), ride: message.ride, rule: message.rule,
      event: message.event, eventAt: message.occurredAt, outcome: outcome,
      isOfTheseRules: message.isOfRules)
  }
}
