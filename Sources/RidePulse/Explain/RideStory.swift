import PostgresStore
import RideCore

/// A ride's history in time order: each event, and what was decided for it.
struct RideStory {
  /// An event or a schedule slot, and what was decided for it.
  struct Chapter {
    var at: Timestamp
    var event: String
    var eventID: Int64?
    /// Whether the event still waits to be processed.
    var isWaiting = false
    var entries: [LedgerRow] = []
  }

  let id: String
  let history: RideHistory
  let chapters: [Chapter]

  init(_ history: RideHistory, of id: String) {
    self.id = id
    self.history = history
    var chapters: [Chapter] = []
    for entry in history.entries {
      if let last = chapters.last, last.eventID == entry.eventID, last.at == entry.occurredAt,
        last.event == entry.event
      {
        chapters[chapters.count - 1].entries.append(entry)
      } else {
        chapters.append(
          Chapter(
            at: entry.occurredAt, event: entry.event, eventID: entry.eventID, entries: [entry]))
      }
    }
    chapters += history.waiting.map {
      Chapter(at: $0.at, event: $0.name, eventID: $0.id, isWaiting: true)
    }
    // A push that was retried is listed with its event, and not at the time of its verdict.
    self.chapters = chapters.sorted { ($0.at, $0.eventID ?? 0) < ($1.at, $1.eventID ?? 0) }
  }

  // MARK: JSON

  var json: JSONValue {
    .object([
      "now": .orNull(history.now), "ride": history.ride.map(Self.ride) ?? .null,
      "agenda": history.plan.map(Self.plan) ?? .null,
      "timeline": .array(chapters.map(Self.chapter)),
      "live_activities": .array(
        history.activities.map { Self.activity($0, history.plan?.memo.cards[.activity($0.id)]) }),
      "contacts": .array(history.contacts.map(Self.contact)),
    ])
  }

  private static func ride(_ ride: Ride) -> JSONValue {
    .object([
      "id": .string(ride.id.text), "state": .orNull(ride.state),
      "customer_id": .orNull(ride.customerID?.text),
      "driver_id": .orNull(ride.driverID?.text), "pickup_at": .orNull(ride.pickupAt),
      "time_zone": .string(ride.timeZone), "updated_at": .orNull(ride.updatedAt),
      "attributes": JSONValue(json: ride.attributes.utf8) ?? .null,
    ])
  }

  private static func plan(_ plan: RideHistory.Plan) -> JSONValue {
    .object([
      "due_at": .orNull(plan.due), "node": .orNull(plan.node),
      "parked_reason": .orNull(plan.parkedReason),
    ])
  }

  private static func chapter(_ chapter: RideStory.Chapter) -> JSONValue {
    .object([
      "at": .orNull(chapter.at), "event": .string(chapter.event),
      "event_id": .orNull(chapter.eventID),
      "handled": .bool(!chapter.isWaiting), "decisions": .array(chapter.entries.map(decision)),
    ])
  }

  private static func decision(_ entry: LedgerRow) -> JSONValue {
    .object([
      "rule": .string(entry.rule), "app": .string(entry.app), "push_type": .string(entry.pushType),
      "card_event": .orNull(entry.cardEvent), "status": .string(entry.status),
      "reason": .orNull(entry.reason), "attempts": .integer(entry.attempts),
      "apns_id": .string(entry.id), "collapse_id": .orNull(entry.collapseID),
      "priority": .orNull(entry.priority), "expiration": .orNull(entry.expiration),
      "token_suffix": .orNull(entry.tokenSuffix), "created_at": .orNull(entry.createdAt),
      "finished_at": .orNull(entry.finishedAt), "latency_ms": .orNull(entry.latency),
    ])
  }

  private static func activity(
    _ activity: RideHistory.Activity, _ memo: CardMemo?
  ) -> JSONValue {
    .object([
      "activity_id": .string(activity.activityID), "app": .string(activity.app),
      "owner_id": .string(activity.ownerID.text), "token_suffix": .string(activity.tokenSuffix),
      "registered_at": .orNull(activity.registeredAt), "ended_at": .orNull(activity.endedAt),
      "ended_reason": .orNull(activity.endedReason), "stale_at": .orNull(memo?.staleAt),
      "retry_at": .orNull(memo?.retryAt), "refused": .bool(memo?.isRefused ?? false),
      "complaint": .orNull(memo?.complaint),
      "urgent_pushes": .array((memo?.urgentAt ?? []).map { .orNull(Timestamp(epochSeconds: $0)) }),
    ])
  }

  private static func contact(_ contact: RideHistory.Contact) -> JSONValue {
    .object([
      "app": .string(contact.app), "owner_id": .string(contact.ownerID.text),
      "contacted_at": .orNull(contact.contactedAt),
    ])
  }
}

extension LedgerRow {
  /// The time from the event or slot to the verdict, in milliseconds.
  var latency: Int64? { finishedAt.map { ($0 - occurredAt).microseconds / 1000 } }
}
