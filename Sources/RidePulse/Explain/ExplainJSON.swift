import PostgresStore
import RideCore

/// Formats a ride's history for machines: one JSON object with sorted keys.
enum ExplainJSON {
  static func text(_ story: RideStory) -> String {
    let history = story.history
    let members: [String: JSONValue] = [
      "now": time(history.now), "ride": history.ride.map(ride) ?? .null,
      "agenda": history.plan.map(plan) ?? .null,
      "timeline": .array(story.chapters.map(chapter)),
      "live_activities": .array(
        history.activities.map { activity($0, history.plan?.memo.cards[$0.id]) }),
      "contacts": .array(history.contacts.map(contact)),
    ]
    return String(decoding: JSONValue.object(members).json, as: UTF8.self)
  }

  private static func ride(_ ride: Ride) -> JSONValue {
    .object([
      "id": .string(ride.id.text), "state": text(ride.state),
      "customer_id": text(ride.customerID?.text),
      "driver_id": text(ride.driverID?.text), "pickup_at": time(ride.pickupAt),
      "time_zone": .string(ride.timeZone), "updated_at": time(ride.updatedAt),
      "attributes": JSONValue(json: ride.attributes.utf8) ?? .null,
    ])
  }

  private static func plan(_ plan: RideHistory.Plan) -> JSONValue {
    .object([
      "due_at": time(plan.due), "node": text(plan.node), "parked_reason": text(plan.parkedReason),
    ])
  }

  private static func chapter(_ chapter: RideStory.Chapter) -> JSONValue {
    .object([
      "at": time(chapter.at), "event": .string(chapter.event), "event_id": number(chapter.eventID),
      "handled": .bool(!chapter.isWaiting), "decisions": .array(chapter.entries.map(decision)),
    ])
  }

  private static func decision(_ entry: LedgerRow) -> JSONValue {
    .object([
      "rule": .string(entry.rule), "app": .string(entry.app), "push_type": .string(entry.pushType),
      "card_event": text(entry.cardEvent), "status": .string(entry.status),
      "reason": text(entry.reason), "attempts": .integer(entry.attempts),
      "apns_id": .string(entry.id), "collapse_id": text(entry.collapseID),
      "priority": number(entry.priority), "expiration": number(entry.expiration),
      "token_suffix": text(entry.tokenSuffix), "created_at": time(entry.createdAt),
      "finished_at": time(entry.finishedAt), "latency_ms": number(entry.latency),
    ])
  }

  private static func activity(
    _ activity: RideHistory.Activity, _ memo: CardMemo?
  ) -> JSONValue {
    .object([
      "activity_id": .string(activity.activityID), "app": .string(activity.app),
      "owner_id": .string(activity.ownerID.text), "token_suffix": .string(activity.tokenSuffix),
      "registered_at": time(activity.registeredAt), "ended_at": time(activity.endedAt),
      "ended_reason": text(activity.endedReason), "stale_at": time(memo?.staleAt),
      "retry_at": time(memo?.retryAt), "refused": .bool(memo?.isRefused ?? false),
      "complaint": text(memo?.complaint),
      "urgent_pushes": .array((memo?.urgentAt ?? []).map { time(Timestamp(epochSeconds: $0)) }),
    ])
  }

  private static func contact(_ contact: RideHistory.Contact) -> JSONValue {
    .object([
      "app": .string(contact.app), "owner_id": .string(contact.ownerID.text),
      "contacted_at": time(contact.contactedAt),
    ])
  }

  private static func text(_ text: String?) -> JSONValue { text.map { .string($0) } ?? .null }
  private static func number(_ number: Int64?) -> JSONValue { number.map { .integer($0) } ?? .null }
  private static func time(_ instant: Timestamp?) -> JSONValue {
    instant.map { .string(CivilTime.exact($0)) } ?? .null
  }
}
