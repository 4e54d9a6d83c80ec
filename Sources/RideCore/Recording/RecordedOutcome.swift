package import Base

/// How a push ended: a row of the ledger, with the token.
package struct RecordedOutcome: StoredObject, Hashable, Sendable {
  package var push = PushReference.blank
  package var status = LedgerEntry.Status.pending
  /// The code of its reason, as `LedgerReason.Code.word`.
  package var reason: String?
  package var app: App?
  /// The name and the time of its event or slot.
  package var event: String?
  package var eventAt: Timestamp?
  /// Its kind, if it is not a push.
  package var kind: LedgerEntry.Kind?
  package var type: PushType?
  package var priority: PushPriority?
  package var cardEvent: CardEvent?

  package static var blank: RecordedOutcome { RecordedOutcome() }

  package mutating func visit(_ fields: inout some StoredFields) throws(StoredFault) {
    try push.visit(&fields)
    try fields.field(
      "status", &status, as: .word,
      or: StoredFault("missing", expected: "a status of deliveries"))
    try fields.field("reason", &reason)
    try fields.field("app", &app)
    try fields.field("event", &event)
    try fields.field("event_at", &eventAt, as: .time)
    try fields.field("kind", &kind, as: .word)
    try fields.field("type", &type, as: .word)
    try fields.field(
      "priority", &priority,
      as: .other(StoredFault("no priority of APNs", expected: "1, 5 or 10")))
    try fields.field("card", &cardEvent, as: .word)
  }
}

extension RecordedOutcome {
  package var isAcceptedPush: Bool { status == .accepted && kind?.isSent != false }

  init(_ entry: LedgerEntry, ride: RideID, token: String?) {
    push = PushReference(ride: ride, rule: entry.rule, token: token)
    (status, reason) = (entry.status, entry.reason?.code.word)
    (app, event, eventAt) = (entry.app, entry.event.name, entry.event.at)
    if entry.kind == .push { type = entry.pushType } else { kind = entry.kind }
    (priority, cardEvent) = (entry.priority, entry.cardEvent)
  }
}
