import Foundation
import RideCore

/// Puts the rows of a claim's statements together into views of rides.
struct ClaimReader {
  private let log: Log
  private var now = Instant(microseconds: 0)
  private var nextDue: Instant?
  private(set) var claims: [RideClaim] = []
  private var memos: [Memo] = []
  private var rides: [String: Ride] = [:]
  private var events: [String: [RideEvent]] = [:]
  private var phones: [String: [Phone]] = [:]

  init(log: Log) {
    self.log = log
  }

  mutating func readClaims(_ rows: QueryResult) {
    if let micros = rows.int64(0, 0) { now = Instant(microseconds: micros) }
    nextDue = rows.int64(0, 1).map { Instant(microseconds: $0) }
    claims.reserveCapacity(rows.rowCount)
    for row in 0..<rows.rowCount {
      guard let ride = rows.string(row, 2), let fence = rows.int64(row, 3) else { continue }
      claims.append(RideClaim(rideID: ride, fence: fence))
      memos.append(memo(rows.string(row, 4), of: ride))
    }
  }

  private func memo(_ text: String?, of ride: String) -> Memo {
    guard let text else { return Memo() }
    do {
      return try JSONDecoder().decode(Memo.self, from: Data(text.utf8))
    } catch {
      log(.error, "A ride's memo can't be read; its retries are dropped", ["ride": ride])
      return Memo()
    }
  }

  /// Phones that a memo names: their owner may be somebody whom the ride no longer names.
  var phonesInMemos: [(ride: String, phone: Int64)] {
    zip(claims, memos).flatMap { claim, memo in
      memo.retries.compactMap { retry in retry.entry.phone.map { (claim.rideID, $0) } }
    }
  }

  mutating func readEvents(_ rows: QueryResult) {
    for row in 0..<rows.rowCount {
      guard let ride = rows.string(row, 0), let id = rows.int64(row, 1),
        let name = rows.string(row, 2), let micros = rows.int64(row, 3)
      else { continue }
      events[ride, default: []].append(
        RideEvent(
          id: id, name: name, at: Instant(microseconds: micros), data: rows.string(row, 4) ?? "{}"))
    }
  }

  mutating func readRides(_ rows: QueryResult) {
    for row in 0..<rows.rowCount {
      guard let id = rows.string(row, 0) else { continue }
      var ride = Ride(id: id, state: rows.string(row, 1))
      ride.customerID = rows.string(row, 2)
      ride.driverID = rows.string(row, 3)
      ride.pickupAt = rows.int64(row, 4).map { Instant(microseconds: $0) }
      ride.timeZone = rows.string(row, 5) ?? "UTC"
      ride.attributes = rows.string(row, 6) ?? "{}"
      ride.updatedAt = rows.int64(row, 7).map { Instant(microseconds: $0) }
      rides[id] = ride
    }
  }

  mutating func readPhones(_ rows: QueryResult) {
    for row in 0..<rows.rowCount {
      guard let ride = rows.string(row, 0), let id = rows.int64(row, 1),
        let app = rows.string(row, 2), let owner = rows.string(row, 3),
        let token = rows.string(row, 4)
      else { continue }
      phones[ride, default: []].append(
        Phone(
          id: id, app: App(rawValue: app), ownerID: owner, token: token,
          environment: rows.string(row, 5).flatMap(APNsEnvironment.init(rawValue:)),
          locale: rows.string(row, 6)))
    }
  }

  /// The claim, all rows read.
  var claim: Claim {
    Claim(
      now: now, nextDue: nextDue,
      rides: zip(claims, memos).map { claim, memo in
        let id = claim.rideID
        return (
          claim,
          RideView(
            rideID: id, ride: rides[id], events: events[id] ?? [], phones: phones[id] ?? [],
            memo: memo)
        )
      })
  }
}
