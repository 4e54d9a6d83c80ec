import PostgresStore
import RideCore

/// A ride's history in time order: each event, and what was decided for it.
struct RideReport {
  /// An event or a schedule slot, and what was decided for it.
  struct Entry {
    var at: Timestamp
    var event: String
    var eventID: Int64?
    /// Whether the event still waits to be processed.
    var isWaiting = false
    var decisions: [LedgerRow] = []
  }

  let id: String
  let history: RideHistory
  let timeline: [Entry]

  init(_ history: RideHistory, of id: String) {
    self.id = id
    self.history = history
    var timeline: [Entry] = []
    for row in history.entries {
      if let last = timeline.last, last.eventID == row.eventID, last.at == row.occurredAt,
        last.event == row.event
      {
        timeline[timeline.count - 1].decisions.append(row)
      } else {
        timeline.append(
          Entry(at: row.occurredAt, event: row.event, eventID: row.eventID, decisions: [row]))
      }
    }
    timeline += history.waiting.map {
      Entry(at: $0.at, event: $0.name, eventID: $0.id, isWaiting: true)
    }
    // A push that was retried is listed with its event, and not at the time of its verdict.
    self.timeline = timeline.sorted { ($0.at, $0.eventID ?? 0) < ($1.at, $1.eventID ?? 0) }
  }

  // MARK: JSON

  var json: JSONValue {
    .object([
      "now": .orNull(history.now), "ride": history.ride.map(Self.ride) ?? .null,
      "agenda": history.plan.map(Self.plan) ?? .null,
      "timeline": .array(timeline.map(Self.object)),
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

  private static func object(_ entry: Entry) -> JSONValue {
    .object([
      "at": .orNull(entry.at), "event": .string(entry.event),
      "event_id": .orNull(entry.eventID),
      "handled": .bool(!entry.isWaiting), "decisions": .array(entry.decisions.map(decision)),
    ])
  }

  private static func decision(_ row: LedgerRow) -> JSONValue {
    .object([
      "rule": .string(row.rule), "app": .string(row.app), "push_type": .string(row.pushType),
      "card_event": .orNull(row.cardEvent), "status": .string(row.status),
      "reason": .orNull(row.reason), "attempts": .integer(row.attempts),
      "apns_id": .string(row.id), "collapse_id": .orNull(row.collapseID),
      "priority": .orNull(row.priority), "expiration": .orNull(row.expiration),
      "token_suffix": .orNull(row.tokenSuffix), "created_at": .orNull(row.createdAt),
      "finished_at": .orNull(row.finishedAt), "latency_ms": .orNull(row.latency),
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
