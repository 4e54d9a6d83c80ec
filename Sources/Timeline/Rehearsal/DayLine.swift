package import Base
package import RideCore

/// The first line of a day: what the day covers, and what recorded it.
package struct DayHeader: Hashable, Sendable {
  package var from: Timestamp
  package var to: Timestamp
  /// How many percent of the rides it has; 100 if it does not state that.
  package var sample: Double = 100
  /// `sha256:` and the digest of the rule files that were in effect at its start.
  package var schedules: String?
  /// The version of the engine that recorded the day; nil for one that another program wrote.
  package var engine: String?

  /// The version of the format.
  package static let version: Int64 = 1

  package init(from: Timestamp, to: Timestamp) {
    self.from = from
    self.to = to
  }

  /// Whether the day has each event in a line of its own.
  ///
  /// The engine records every event that it read. Any other program writes rows alone, and their
  /// changes emit events as the database's trigger does.
  package var isRecorded: Bool { engine != nil }
}

/// One line of a day after the header: something that happened, and when.
package struct DayLine: Hashable, Sendable {
  package enum Content: Hashable, Sendable {
    case ride(DayRide)
    case event(DayEvent)
    case phone(DayToken)
    case card(DayToken)
    case pushToStart(DayToken)
    case contact(App, OwnerID, InstallationID?)
    case seen(DayPush)
    case preference(OptOut, allowed: Bool)
    case answer(DayAnswer)
    case outcome(DayOutcome)
  }

  package var at: Timestamp
  package var content: Content

  package init(at: Timestamp, _ content: Content) {
    self.at = at
    self.content = content
  }
}

/// A ride's row: whole in its first line, later only what changed.
package struct DayRide: Hashable, Sendable {
  package var id: RideID
  /// The columns that the line has. An attribute that is gone is null.
  package var columns: [RideColumn] = []
  /// All participants, if the line has them.
  package var participants: [Participant]?
  package var updatedAt: Timestamp?
  /// Whether the row was deleted.
  package var isRemoved = false

  package init(id: RideID) { self.id = id }
}

/// An event that something other than a rule emitted: a replay emits what rules emit.
package struct DayEvent: Hashable, Sendable {
  package var name: String
  /// Nil for an event that is about the people whom its data names.
  package var ride: RideID?
  /// A JSON object.
  package var data: JSONValue = .object([:])

  package init(_ name: String, ride: RideID?) {
    self.name = name
    self.ride = ride
  }
}

/// A token that an app registered or withdrew: of a phone, of a card, or one that starts a card.
package struct DayToken: Hashable, Sendable {
  package var app: App
  package var ownerID: OwnerID
  package var token: String
  package var environment: APNsEnvironment?
  package var installationID: InstallationID?
  /// Of a phone.
  package var locale: String?
  /// Of a card: its ride, and the activity, which keeps its ID when its token changes.
  package var ride: RideID?
  package var activityID: String?
  package var isFrequent = false
  /// Of a token that starts a card.
  package var attributesType: String?
  /// Whether it is withdrawn: by a sign-out, or because the card is gone.
  package var isRemoved = false

  package init(app: App, ownerID: OwnerID, token: String) {
    self.app = app
    self.ownerID = ownerID
    self.token = token
  }
}

/// Names a push of a ride without its `apns-id`, which another set of rules may change.
package struct DayPush: Hashable, Sendable {
  package var ride: RideID
  package var rule: String
  /// Nil for what no phone received.
  package var token: String?

  package init(ride: RideID, rule: String, token: String?) {
    self.ride = ride
    self.rule = rule
    self.token = token
  }
}

/// What APNs answered to one attempt.
package struct DayAnswer: Hashable, Sendable {
  package var token: String
  /// The HTTP status; 0 if there was no answer.
  package var status: Int
  /// Apple's reason; without an answer, the ledger's code for that.
  package var reason: String?
  /// With 410: since when the token is invalid. One that was registered later stays.
  package var timestamp: Timestamp?
  /// How long after the attempt the answer came.
  package var after: Duration = .zero

  package init(token: String, status: Int) {
    self.token = token
    self.status = status
  }
}

/// How a push ended: a row of the ledger.
package struct DayOutcome: Hashable, Sendable {
  package var push: DayPush
  package var status: LedgerEntry.Status
  /// The code of its reason, as `LedgerReason.Code.word`.
  package var reason: String?
  package var app: App?
  /// The name and the time of its event or slot.
  package var event: String?
  package var eventAt: Timestamp?
  package var type: PushType?
  package var priority: PushPriority?
  package var cardEvent: CardEvent?

  package init(_ push: DayPush, _ status: LedgerEntry.Status) {
    self.push = push
    self.status = status
  }
}
