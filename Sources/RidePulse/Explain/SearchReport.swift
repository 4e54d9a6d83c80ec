import Base
import PostgresStore
import RideCore

/// A search as JSON.
struct SearchReport {
  private let result: SearchResult

  init(_ result: SearchResult) {
    self.result = result
  }

  var json: JSONValue {
    .object([
      "now": .orNull(result.now),
      "phones": .array(result.phones.items.map(\.json)),
      "more_phones": .bool(result.phones.hasMore),
      "start_tokens": .array(result.startTokens.items.map(Self.startToken)),
      "more_start_tokens": .bool(result.startTokens.hasMore),
      "live_activities": .array(
        result.activities.items.map { activity in
          .object(activity.members.merging(["ride_id": .string(activity.rideID.text)]) { $1 })
        }),
      "more_live_activities": .bool(result.activities.hasMore),
      "contacts": .array(result.contacts.map(\.json)),
      "rides": .array(result.rides.items.map(Self.ride)),
      "more_rides": .bool(result.rides.hasMore),
      "pushes": .array(result.pushes.items.map(push)),
      "more_pushes": .bool(result.pushes.hasMore),
    ])
  }

  private static func startToken(_ token: FoundStartToken) -> JSONValue {
    .object([
      "app": .string(token.app), "owner_id": .string(token.ownerID.text),
      "attributes_type": .string(token.attributesType), "token_suffix": .string(token.tokenSuffix),
      "registered_at": .orNull(token.registeredAt), "disabled_at": .orNull(token.disabledAt),
      "disabled_reason": .orNull(token.disabledReason),
    ])
  }

  private static func ride(_ ride: FoundRide) -> JSONValue {
    .object([
      "id": .string(ride.id.text), "state": .orNull(ride.state), "app": .string(ride.app),
      "updated_at": .orNull(ride.updatedAt), "live": .bool(ride.isLive),
      "due_at": .orNull(ride.due), "parked_reason": .orNull(ride.parkedReason),
    ])
  }

  private func push(_ row: LedgerRow) -> JSONValue {
    .object(
      row.decision(result.revisions).merging([
        "ride_id": .string(row.rideID.text), "at": .orNull(row.occurredAt),
        "event": .string(row.event), "event_id": .orNull(row.eventID),
      ]) { $1 })
  }
}
