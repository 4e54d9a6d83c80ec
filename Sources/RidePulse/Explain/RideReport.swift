import Base
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
      Entry(at: $0.at, event: $0.name, eventID: $0.id == 0 ? nil : $0.id, isWaiting: true)
    }
    // A push that was retried is listed with its event, and not at the time of its verdict.
    self.timeline = timeline.sorted { ($0.at, $0.eventID ?? 0) < ($1.at, $1.eventID ?? 0) }
  }

  // MARK: JSON

  var json: JSONValue { json(with: [:]) }

  /// - Parameter more: Further members.
  func json(with more: [String: JSONValue]) -> JSONValue {
    let members: [String: JSONValue] = [
      "now": .orNull(history.now), "ride": history.ride.map(Self.ride) ?? .null,
      "agenda": history.plan.map(Self.plan) ?? .null,
      "timeline": .array(timeline.map(object)),
      "live_activities": .array(
        history.activities.map { activity in
          let memo = history.plan?.memo.cards[.activity(activity.id)]
          return .object(activity.members.merging(Self.state(memo)) { $1 })
        }),
      "phones": .array(history.phones.map(\.json)),
      "contacts": .array(history.contacts.map(\.json)),
    ]
    let past: [String: JSONValue] = history.time.map { ["at": .orNull($0)] } ?? [:]
    return .object(members.merging(more) { $1 }.merging(past) { $1 })
  }

  private static func ride(_ ride: Ride) -> JSONValue {
    .object([
      "id": .string(ride.id.text), "state": .orNull(ride.state),
      "customer_id": .orNull(ride.customerID?.text),
      "driver_id": .orNull(ride.driverID?.text),
      "participants": .array(
        ride.participants.map {
          .object([
            "app": .string($0.app.rawValue), "owner_id": .string($0.ownerID.text),
            "attributes": JSONValue(json: $0.attributes.utf8) ?? .null,
          ])
        }), "pickup_at": .orNull(ride.pickupAt),
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

  private func object(_ entry: Entry) -> JSONValue {
    .object([
      "at": .orNull(entry.at), "event": .string(entry.event),
      "event_id": .orNull(entry.eventID),
      "handled": .bool(!entry.isWaiting),
      "decisions": .array(
        entry.decisions.map { .object($0.decision(history.revisions)) }),
    ])
  }
  private static func state(_ memo: CardMemo?) -> [String: JSONValue] {
    [
      "stale_at": .orNull(memo?.staleAt), "retry_at": .orNull(memo?.retryAt),
      "refused": .bool(memo?.isRefused ?? false), "complaint": .orNull(memo?.complaint),
      "urgent_pushes": .array((memo?.urgentAt ?? []).map { .orNull(Timestamp(epochSeconds: $0)) }),
    ]
  }
}

extension RideHistory.Activity {
  /// The members of a card in JSON, without the state that only its ride's memo has.
  var members: [String: JSONValue] {
    [
      "activity_id": .string(activityID), "app": .string(app), "owner_id": .string(ownerID.text),
      "token_suffix": .string(tokenSuffix), "registered_at": .orNull(registeredAt),
      "ended_at": .orNull(endedAt), "ended_reason": .orNull(endedReason),
    ]
  }
}

extension RideHistory.Contact {
  var json: JSONValue {
    .object([
      "app": .string(app), "owner_id": .string(ownerID.text),
      "contacted_at": .orNull(contactedAt),
    ])
  }
}

extension LedgerRow {
  /// The members of a decision in JSON.
  func decision(_ revisions: [Int32: RecordedRevision]) -> [String: JSONValue] {
    let decidedBy = decidedBy.map { id -> JSONValue in
      let revision = revisions[id]?.revision
      return .object([
        "revision": .integer(Int64(id)), "rules": .orNull(revision?.rules),
        "version": .orNull(revision?.version),
      ])
    }
    let system: [String: JSONValue] = isAndroid ? ["platform": .orNull(platform)] : [:]
    return system.merging([
      "kind": .string(kind.rawValue), "rule": .string(rule), "app": .string(app),
      "owner_id": .orNull(ownerID?.text),
      "push_type": .orNull(kind == .push ? pushType : nil),
      "card_event": .orNull(cardEvent), "status": .string(status),
      "reason": .orNull(reason), "attempts": .integer(attempts),
      "apns_id": .orNull(kind.isSent ? id : nil), "apns_unique_id": .orNull(uniqueID),
      "collapse_id": .orNull(collapseID),
      "priority": .orNull(priority), "expiration": .orNull(expiration),
      "token_suffix": .orNull(tokenSuffix), "created_at": .orNull(createdAt),
      "finished_at": .orNull(finishedAt), "latency_ms": .orNull(latency),
      "seen_at": .orNull(seenAt), "reason_code": .orNull(reasonCode),
      "decided_by": decidedBy ?? .null,
    ]) { $1 }
  }

  /// The time from the event or slot to the verdict, in milliseconds.
  var latency: Int64? { finishedAt.map { ($0 - occurredAt).microseconds / 1000 } }
}
