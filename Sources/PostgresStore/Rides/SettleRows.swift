import Base
import Foundation
import RideCore

/// The rows that `SettleStatements.settle` takes as parameters, after the node and whether any
/// ledger row may exist.
enum SettleRows {
  /// What a settlement writes to its ride's row on the agenda.
  struct Ride: Sendable {
    let claim: RideClaim
    /// As the agenda stores it; nil for an empty one.
    let memo: String?
    let nextDue: Timestamp?
    let isOver: Bool
    /// `Revision.id`
    let revision: Int32?
  }

  /// A part of a settlement, with the ride that must be held for it to be written.
  struct Part<Value: Sendable>: Sendable {
    let ride: RideID
    let value: Value
  }

  typealias Tally = (rule: String, counts: SlotTally)

  static let rides = RowParameters<Ride>(
    after: 2,
    [
      .text("ride_id") { $0.claim.rideID.text }, .integer("fence") { $0.claim.fence },
      .text("node", "uuid") { $0.claim.holder },
      .text("memo") { $0.memo }, .integer("next_due") { $0.nextDue?.microseconds },
      .boolean("is_over") { $0.isOver }, .integer("revision", "integer") { $0.revision },
      .integer("system_identifier") { $0.claim.databaseIdentity?.systemIdentifier },
      .integer("timeline") { $0.claim.databaseIdentity?.timeline },
      .text("place", "tid") { $0.claim.rowLocation },
    ])

  /// Consumed events.
  static let events = RowParameters<EventKey>(
    after: rides.last,
    [.integer("id") { $0.id }, .integer("created_at") { $0.at.microseconds }])

  /// Ledger rows, by the columns of the ledger. The event has no ID if it is a schedule slot.
  static let entries = RowParameters<Part<LedgerEntry>>(
    after: events.last,
    [
      .text("ride_id") { $0.ride.text }, .id("apns_id") { $0.value.id },
      .integer("event_id") { $0.value.isOfSlot ? nil : $0.value.event.id },
      .text("event") { $0.value.event.name },
      .integer("occurred_at") { $0.value.event.at.microseconds },
      .text("rule") { $0.value.rule }, .text("app") { $0.value.app.rawValue },
      .text("push_type") { $0.value.typeName },
      .text("card_event") { $0.value.cardEvent?.rawValue },
      .text("status") { $0.value.status.rawValue }, .text("reason") { $0.value.reason?.text },
      .text("reason_code") { $0.value.reason?.code.word },
      .integer("attempts", "integer") { $0.value.attempts },
      .text("collapse_id") { $0.value.collapseID }, .integer("device_id") { $0.value.phone },
      .text("token_suffix") { $0.value.tokenSuffix },
      .integer("priority", "smallint") { $0.value.priority?.rawValue },
      .integer("expiration") { $0.value.expiration },
      .text("apns_unique_id") { $0.value.uniqueID },
      .text("owner_id") { $0.value.owner?.text },
    ])

  typealias Gone = (identity: DatabaseIdentity?, token: TokenInvalidation)

  /// Tokens that are invalid. They are written even if the ride is not held: APNs' answer counts,
  /// as long as the IDs of tokens mean the same.
  static let gone = RowParameters<Gone>(
    after: entries.last,
    [
      .integer("id") { $0.token.id }, .text("kind") { $0.token.kind.rawValue },
      .integer("since") { $0.token.since?.microseconds }, .text("reason") { $0.token.reason },
      .integer("system_identifier") { $0.identity?.systemIdentifier },
      .integer("timeline") { $0.identity?.timeline },
    ])

  /// Observations of phones. The value is the push, environment or microseconds of the kind.
  static let observations = RowParameters<Part<PhoneObservation>>(
    after: gone.last,
    [
      .text("ride_id") { $0.ride.text }, .integer("id") { $0.value.phone },
      .text("kind") { $0.value.kind.word }, .text("value") { $0.value.kind.value },
    ])

  /// The due schedule slots of a rule of a ride, by outcome.
  static let tallies = RowParameters<Part<Tally>>(
    after: observations.last,
    [
      .text("ride_id") { $0.ride.text }, .text("rule") { $0.value.rule },
      .integer("due") { $0.value.counts.due }, .integer("fired") { $0.value.counts.fired },
      .integer("skipped") { $0.value.counts.skipped },
      .integer("missed") { $0.value.counts.missed },
      .integer("capped") { $0.value.counts.capped },
      .integer("expired") { $0.value.counts.expired },
    ])

  typealias Emitted = (index: Int, event: EmittedEvent)

  /// Events that rules emit, only in `SettleStatements.settleWithEvents`.
  static let emits = RowParameters<Part<Emitted>>(
    after: tallies.last,
    [
      .text("ride_id") { $0.ride.text }, .text("event") { $0.value.event.name },
      .text("data") { $0.value.event.data }, .integer("place") { $0.value.index },
      .text("trace") { $0.value.event.trace?.text },
    ])

  /// Returns the parameters of a batch; those of events only if there are any.
  ///
  /// - Parameter anyRowMayExist: whether the ledger may have a row of any push, and not only of
  ///   those that memos keep.
  static func parameters(
    node: String, _ batch: [ClaimedSettlement], anyRowMayExist: Bool = false
  ) -> [String?] {
    let settled = batch.map { claimed in
      Ride(
        claim: claimed.claim, memo: json(claimed.settlement.memo),
        nextDue: claimed.settlement.nextDue, isOver: claimed.settlement.isOver,
        revision: claimed.settlement.revision)
    }
    var parameters: [String?] = [node, anyRowMayExist ? "t" : "f"]
    parameters += rides.arrays(settled)
    parameters += events.arrays(batch.flatMap(\.settlement.consumed))
    parameters += entries.arrays(parts(of: batch, \.entries))
    parameters += gone.arrays(
      batch.flatMap { claimed in
        claimed.settlement.invalidations.map {
          (identity: claimed.claim.databaseIdentity, token: $0)
        }
      })
    parameters += observations.arrays(parts(of: batch, \.observations))
    parameters += tallies.arrays(
      parts(of: batch) { settlement in
        settlement.tallies.sorted { $0.key < $1.key }.map { (rule: $0.key, counts: $0.value) }
      })
    guard emitsEvents(batch) else { return parameters }
    return parameters
      + emits.arrays(
        parts(of: batch) { settlement in
          settlement.emits.enumerated().map { (index: $0.offset, event: $0.element) }
        })
  }

  static func emitsEvents(_ batch: [ClaimedSettlement]) -> Bool {
    batch.contains { !$0.settlement.emits.isEmpty }
  }

  private static func parts<Value>(
    of batch: [ClaimedSettlement], _ values: (Settlement) -> [Value]
  ) -> [Part<Value>] {
    var parts: [Part<Value>] = []
    parts.reserveCapacity(batch.count)
    // By index: a settlement would be copied out of the list.
    for index in batch.indices {
      for value in values(batch[index].settlement) {
        parts.append(Part(ride: batch[index].settlement.rideID, value: value))
      }
    }
    return parts
  }

  /// Returns a memo as the agenda stores it; nil for an empty one.
  static func json(_ memo: Memo) -> String? { memo.isEmpty ? nil : memo.storedText }
}

extension PhoneObservation.Kind {
  fileprivate var word: String {
    switch self {
    case .bad: "bad"
    case .probed: "probed"
    case .unprobed: "unprobed"
    case .good: "good"
    case .throttled: "throttled"
    }
  }

  fileprivate var value: String? {
    switch self {
    case .bad(let probe): probe?.description
    case .probed(let environment): environment?.rawValue
    case .unprobed(let push): push.description
    case .good: nil
    case .throttled(let until): String(until.microseconds)
    }
  }
}
