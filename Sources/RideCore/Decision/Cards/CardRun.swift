package import Base

/// The time in which a rule's cards are on Android phones: from an event of `start` until its end.
///
/// FCM reaches the phone and not one card on it, so the card of the ride runs, and each Android phone
/// of its people shows it, one that registers later, too.
package struct CardRun: Hashable, Sendable {
  /// The event of `start` with which it began.
  package var event: RideEvent
  /// Rises with each run of the card over the ride's life, also after it left the agenda: seconds since
  /// 1970. A card that has ended in an earlier run is started again.
  package var number: Int
  /// The people whom `if` excluded at its start.
  package var excluded: [OwnerID] = []
  /// When the cause of its end occurred; nil while it runs.
  package var endsAt: Timestamp?
  /// The event or state that ended it.
  package var endedBy: String?

  package init(event: RideEvent, number: Int) {
    self.event = event
    self.number = number
  }

  package var isOver: Bool { endsAt != nil }
}

/// What is kept of the card of an Android phone besides what is kept of any card.
package struct AndroidCardMemo: Hashable, Sendable {
  /// The app whose card it is: the phone may be gone by the next decision.
  package var app: App
  /// `CardRun.number` of the last run that it was part of.
  package var run: Int
  /// Whether FCM accepted a push that shows it; until then its pushes start it.
  package var isStarted = false
  /// Whether it has ended. It stays in the memo, because its timestamps and numbers must rise if a
  /// later run starts it again.
  package var isOver = false

  package init(app: App, run: Int) {
    self.app = app
    self.run = run
  }
}

extension CardRun: StoredObject {
  package static var blank: CardRun { CardRun(event: .blank, number: 0) }

  package mutating func visit(_ fields: inout some StoredFields) throws(StoredFault) {
    try fields.field("event", &event)
    try fields.field("number", &number)
    try fields.parts("excluded", &excluded)
    try fields.field("endsAt", &endsAt)
    try fields.field("endedBy", &endedBy)
  }
}

extension AndroidCardMemo: StoredObject {
  package static var blank: AndroidCardMemo { AndroidCardMemo(app: .customer, run: 0) }

  package mutating func visit(_ fields: inout some StoredFields) throws(StoredFault) {
    try fields.field("app", &app)
    try fields.field("run", &run)
    try fields.field("isStarted", &isStarted)
    try fields.field("isOver", &isOver)
  }
}
