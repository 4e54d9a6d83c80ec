import Foundation
import RideCore

/// Rides and what belongs to them, decoded from rows.
struct RideRows {
  private var rides: [RideID: Ride] = [:]
  private var events: [RideID: [RideEvent]] = [:]
  private var phones: [RideID: [Phone]] = [:]
  private var cards: [RideID: [Card]] = [:]
  private var channels: [RideID: [RideChannel]] = [:]
  private var startTokens: [RideID: [StartToken]] = [:]
  private var withMoreEvents: Set<RideID> = []
  private(set) var highestEvent: Int64?
  /// Rides that did not fit into the read: what was read of them is incomplete.
  private(set) var beyond: Set<RideID> = []
  /// The bytes of JSON read.
  private(set) var bytes = 0
  /// Rides that cannot be read, with the reason.
  var unreadable: [RideID: String] = [:]

  /// - Parameter limit: the number of events of a ride that one claim handles; one more row means
  ///   that more events are waiting.
  mutating func readEvents(_ rows: QueryResult, limit: Int = .max) {
    for row in 0..<rows.rowCount {
      guard let ride = rows.string(row, 0).map(RideID.init), let id = rows.int64(row, 1),
        let name = rows.string(row, 2), let micros = rows.int64(row, 3)
      else { continue }
      highestEvent = max(highestEvent ?? id, id)
      if rows.bool(row, 6) == true {
        // The next claim reads the events after those that fit.
        if events[ride] == nil { beyond.insert(ride) } else { withMoreEvents.insert(ride) }
        continue
      }
      if let bytes = rows.int64(row, 5) {
        unreadable[ride] = BoundedJSON.reason("the data of event \(id) is", bytes: bytes)
      }
      if events[ride, default: []].count >= limit {
        withMoreEvents.insert(ride)
        continue
      }
      let data = rows.string(row, 4) ?? "{}"
      bytes += data.utf8.count
      var event = RideEvent(id: id, name: name, at: Timestamp(microseconds: micros), data: data)
      event.people = people(rows, row, ofRide: ride)
      events[ride, default: []].append(event)
    }
  }

  private mutating func people(
    _ rows: QueryResult, _ row: Int, ofRide ride: RideID
  ) -> EventPeople? {
    let (customer, driver) = (
      rows.string(row, 7).map(OwnerID.init), rows.string(row, 8).map(OwnerID.init)
    )
    var former: RideImage?
    if let text = rows.string(row, 9) {
      do {
        former = try JSONDecoder().decode(RideImage.self, from: Data(text.utf8))
      } catch {
        unreadable[ride] = "the former row of an event can't be read: \(error)"
      }
    }
    if customer == nil, driver == nil, former == nil { return nil }
    return EventPeople(customer: customer, driver: driver, former: former)
  }

  mutating func readRides(_ rows: QueryResult) {
    for row in 0..<rows.rowCount {
      guard let id = rows.string(row, 0).map(RideID.init) else { continue }
      if rows.bool(row, 9) == true {
        beyond.insert(id)
        continue
      }
      var ride = Ride(id: id, state: rows.string(row, 1))
      ride.customerID = rows.string(row, 2).map(OwnerID.init)
      ride.driverID = rows.string(row, 3).map(OwnerID.init)
      ride.pickupAt = rows.int64(row, 4).map { Timestamp(microseconds: $0) }
      ride.timeZone = rows.string(row, 5) ?? "UTC"
      ride.attributes = rows.string(row, 6) ?? "{}"
      ride.updatedAt = rows.int64(row, 7).map { Timestamp(microseconds: $0) }
      bytes += ride.attributes.utf8.count
      rides[id] = ride
      if let bytes = rows.int64(row, 8) {
        unreadable[id] = BoundedJSON.reason("its attributes are", bytes: bytes)
      }
    }
  }

  /// Adds the rows of another read, except those of rides that did not fit into it.
  mutating func add(_ other: RideRows) {
    let isComplete = { (ride: RideID) in !other.beyond.contains(ride) }
    rides.merge(other.rides.filter { isComplete($0.key) }) { $1 }
    events.merge(other.events.filter { isComplete($0.key) }) { $1 }
    phones.merge(other.phones.filter { isComplete($0.key) }) { $1 }
    cards.merge(other.cards.filter { isComplete($0.key) }) { $1 }
    channels.merge(other.channels.filter { isComplete($0.key) }) { $1 }
    startTokens.merge(other.startTokens.filter { isComplete($0.key) }) { $1 }
    withMoreEvents.formUnion(other.withMoreEvents)
    unreadable.merge(other.unreadable.filter { isComplete($0.key) }) { $1 }
    highestEvent = [highestEvent, other.highestEvent].compactMap(\.self).max()
    bytes += other.bytes
  }

  mutating func readPhones(_ rows: QueryResult) {
    for row in 0..<rows.rowCount {
      guard let ride = rows.string(row, 0).map(RideID.init), let id = rows.int64(row, 1),
        let app = rows.string(row, 2), let owner = rows.string(row, 3).map(OwnerID.init),
        let token = rows.string(row, 4)
      else { continue }
      var phone = Phone(
        id: id, app: App(rawValue: app), ownerID: owner, token: token,
        environment: rows.string(row, 5).flatMap(APNsEnvironment.init(rawValue:)),
        locale: rows.string(row, 6))
      // PostgreSQL created this JSON, so it can always be decoded.
      phone.problem = rows.string(row, 7).flatMap {
        try? JSONDecoder().decode(PhoneProblem.self, from: Data($0.utf8))
      }
      phone.contactedAt = rows.int64(row, 8).map { Timestamp(microseconds: $0) }
      phones[ride, default: []].append(phone)
    }
  }

  mutating func readCards(_ rows: QueryResult) {
    for row in 0..<rows.rowCount {
      guard let ride = rows.string(row, 0).map(RideID.init), let id = rows.int64(row, 1),
        let app = rows.string(row, 2), let owner = rows.string(row, 3).map(OwnerID.init),
        let token = rows.string(row, 4), let registered = rows.int64(row, 7)
      else { continue }
      cards[ride, default: []].append(
        Card(
          .activity(id), app: App(rawValue: app), ownerID: owner, token: token,
          environment: rows.string(row, 5).flatMap(APNsEnvironment.init(rawValue:)),
          isFrequent: rows.string(row, 6) == "t",
          registeredAt: Timestamp(microseconds: registered), isGone: rows.string(row, 8) == "t"))
    }
  }

  mutating func readStartTokens(_ rows: QueryResult) {
    for row in 0..<rows.rowCount {
      guard let ride = rows.string(row, 0).map(RideID.init), let id = rows.int64(row, 1),
        let app = rows.string(row, 2), let owner = rows.string(row, 3).map(OwnerID.init),
        let type = rows.string(row, 4), let token = rows.string(row, 5),
        let registered = rows.int64(row, 7)
      else { continue }
      startTokens[ride, default: []].append(
        StartToken(
          id: id, app: App(rawValue: app), ownerID: owner, attributesType: type, token: token,
          environment: rows.string(row, 6).flatMap(APNsEnvironment.init(rawValue:)),
          registeredAt: Timestamp(microseconds: registered)))
    }
  }

  mutating func readChannels(_ rows: QueryResult) {
    for row in 0..<rows.rowCount {
      guard let ride = rows.string(row, 0).map(RideID.init), let id = rows.int64(row, 1),
        let app = rows.string(row, 2),
        let environment = rows.string(row, 3).flatMap(APNsEnvironment.init(rawValue:)),
        let storage = rows.string(row, 4).flatMap(ChannelStorage.init(rawValue:)),
        let created = rows.int64(row, 6)
      else { continue }
      channels[ride, default: []].append(
        RideChannel(
          id: id, app: App(rawValue: app), environment: environment, storage: storage,
          createdAt: Timestamp(microseconds: created),
          standing: Self.standing(
            rows.string(row, 5).flatMap { ChannelID($0) }, isUnanswered: rows.string(row, 7) == "t",
            isEnded: rows.string(row, 8) == "t", reason: rows.string(row, 9))))
    }
  }

  private static func standing(
    _ channel: ChannelID?, isUnanswered: Bool, isEnded: Bool, reason: String?
  ) -> RideChannel.Standing {
    if isEnded { return channel == nil ? .refused(reason ?? "no reason") : .closed }
    if let channel { return .open(channel) }
    return isUnanswered ? .unanswered : .beingMade
  }

  /// Returns the view of one ride; all rows must have been read.
  func view(of id: RideID, _ memo: Memo = Memo()) -> RideView {
    var view = RideView(
      rideID: id, ride: rides[id], events: events[id] ?? [], phones: phones[id] ?? [],
      cards: cards[id] ?? [], startTokens: startTokens[id] ?? [], memo: memo)
    view.channels = channels[id] ?? []
    view.hasMoreEvents = withMoreEvents.contains(id)
    return view
  }
}
