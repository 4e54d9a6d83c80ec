import Base
import Foundation
import RideCore

/// Why a ride cannot be read.
struct UnreadableRide: Hashable {
  var reason: String
  /// Whether no node can read the ride: it is parked at once.
  var isFinal = false
}

/// Rides and what belongs to them, decoded from rows.
struct RideRows {
  /// What was read of each ride, in the order in which rides were first read.
  var views: [RideView] = []
  private var indices: [RideID: Int] = [:]
  private(set) var highestEvent: Int64?
  /// Rides that did not fit into the read: what was read of them is incomplete.
  private(set) var oversized: Set<RideID> = []
  /// The bytes of JSON read.
  private(set) var bytes = 0
  var unreadable: [RideID: UnreadableRide] = [:]

  /// Returns the index of a ride's view, after adding one if there is none.
  mutating func index(of ride: RideID) -> Int {
    if let index = indices[ride] { return index }
    indices[ride] = views.count
    views.append(RideView(rideID: ride, ride: nil))
    return views.count - 1
  }

  /// Adds the rows of reads, in their order.
  mutating func take(_ reads: [RideReading.Read], _ results: some Sequence<QueryResult>) {
    for (read, rows) in zip(reads, results) { read.take(&self, rows) }
  }

  /// - Parameters:
  ///   - columns: those that were selected.
  ///   - size: how the rows were read; nil if all events of the rides were.
  mutating func readEvents(
    _ rows: QueryResult, _ columns: EventRead = .all, _ size: ReadSize? = nil
  ) {
    for row in 0..<rows.rowCount {
      guard let ride = rows[row, columns.ride].map(RideID.init), let id = rows[row, columns.id],
        let name = rows[row, columns.name], let createdAt = rows[row, columns.createdAt]
      else { continue }
      highestEvent = max(highestEvent ?? id, id)
      if rows[row, columns.isBeyond] == true {
        // The next claim reads the events after those that fit.
        let index = index(of: ride)
        if size == .small || views[index].events.isEmpty {
          oversized.insert(ride)
        } else {
          views[index].hasMoreEvents = true
        }
        continue
      }
      if let bytes = rows[row, columns.bytes] {
        unreadable[ride] = BoundedJSON.tooLarge("the data of event \(id) is", bytes: bytes)
      }
      let index = index(of: ride)
      if let size, views[index].events.count >= size.eventLimit {
        if size == .small { oversized.insert(ride) }
        views[index].hasMoreEvents = true
        continue
      }
      let data = rows[row, columns.data] ?? "{}"
      bytes += data.utf8.count
      var event = RideEvent(id: id, name: name, at: createdAt, data: data)
      event.people = people(rows, row, ofRide: ride)
      views[index].events.append(event)
      if let column = columns.trace, let text = rows[row, column],
        let trace = EventTrace(event.key, text)
      {
        views[index].traces.append(trace)
      }
    }
  }

  private mutating func people(
    _ rows: QueryResult, _ row: Int, ofRide ride: RideID
  ) -> EventPeople? {
    // With and without traces, these columns are the same.
    let columns = EventRead.all
    let customer = rows[row, columns.customer].map(OwnerID.init)
    let driver = rows[row, columns.driver].map(OwnerID.init)
    var former: RideImage?
    if let text = rows[row, columns.former] {
      do {
        former = try RideImage(storedText: text)
      } catch {
        unreadable[ride] = UnreadableRide(
          reason: "the former row of an event can't be read: \(error)")
      }
    }
    if customer == nil, driver == nil, former == nil { return nil }
    return EventPeople(customer: customer, driver: driver, former: former)
  }

  mutating func readRides(_ rows: QueryResult) {
    // With and without entries, the columns are the same.
    let columns = RideRead.withEntries
    for row in 0..<rows.rowCount {
      guard let id = rows[row, columns.id].map(RideID.init) else { continue }
      if rows[row, columns.isBeyond] == true {
        oversized.insert(id)
        continue
      }
      var ride = Ride(id: id, state: rows[row, columns.state])
      ride.customerID = rows[row, columns.customer].map(OwnerID.init)
      ride.driverID = rows[row, columns.driver].map(OwnerID.init)
      ride.pickupAt = rows[row, columns.pickupAt]
      ride.timeZone = rows[row, columns.timeZone] ?? "UTC"
      ride.attributes = rows[row, columns.attributes] ?? "{}"
      ride.updatedAt = rows[row, columns.updatedAt]
      ride.isUnread = rows[row, columns.isUnread] ?? false
      ride.entered = rows[row, columns.entered].flatMap(Self.entries) ?? [:]
      bytes += ride.attributes.utf8.count
      views[index(of: id)].ride = ride
      if let bytes = rows[row, columns.bytes] {
        unreadable[id] = BoundedJSON.tooLarge("its attributes are", bytes: bytes)
      }
    }
  }

  /// Returns the entries into states; PostgreSQL created the JSON.
  private static func entries(_ text: String) -> [String: Timestamp]? {
    guard case .object(let members)? = JSONValue(json: text.utf8) else { return nil }
    return members.compactMapValues { value in
      if case .integer(let microseconds) = value {
        Timestamp(microseconds: microseconds)
      } else {
        nil
      }
    }
  }

  /// Reads participants; their rides must have been read.
  mutating func readParticipants(_ rows: QueryResult) {
    let columns = ParticipantRead.all
    for row in 0..<rows.rowCount {
      guard let ride = rows[row, columns.ride].map(RideID.init), let app = rows[row, columns.app],
        let owner = rows[row, columns.owner].map(OwnerID.init)
      else { continue }
      let attributes = rows[row, columns.attributes] ?? "{}"
      bytes += attributes.utf8.count
      views[index(of: ride)].ride?.participants.append(
        Participant(app: App(rawValue: app), ownerID: owner, attributes: attributes))
    }
  }

  /// Adds the rows of another read, except those of rides that did not fit into it.
  mutating func add(_ other: RideRows) {
    if views.isEmpty, other.oversized.isEmpty {
      // One read has all rides of most claims.
      (views, indices) = (other.views, other.indices)
    } else {
      for view in other.views where !other.oversized.contains(view.rideID) {
        views[index(of: view.rideID)] = view
      }
    }
    let complete = other.unreadable.filter { !other.oversized.contains($0.key) }
    unreadable.merge(complete) { $1 }
    highestEvent = [highestEvent, other.highestEvent].compactMap(\.self).max()
    bytes += other.bytes
  }

  /// - Parameter topics: a JSON list, which PostgreSQL made; nil for none.
  mutating func addOptOuts(
    _ topics: String?, _ app: String, _ owner: OwnerID, _ index: Int
  ) {
    guard let topics, case .array(let names) = JSONValue(json: topics.utf8) else { return }
    for case .string(let name) in names {
      views[index].optOuts.insert(
        OptOut(app: App(rawValue: app), owner: owner, topic: Topic(name)))
    }
  }

  mutating func readPhones(_ rows: QueryResult) {
    // With and without contacts, the columns are the same.
    let columns = PhoneRead.withContacts
    for row in 0..<rows.rowCount {
      guard let ride = rows[row, columns.ride].map(RideID.init), let id = rows[row, columns.id],
        let app = rows[row, columns.app], let owner = rows[row, columns.owner].map(OwnerID.init),
        let token = rows[row, columns.token]
      else { continue }
      // Rows are in the order of phones: a phone that is listed twice follows itself.
      let index = index(of: ride)
      if views[index].phones.last?.id == id { continue }
      let reach = PhoneReach(rows[row, columns.reach])
      var phone = Phone(
        id: id, app: App(rawValue: app), ownerID: owner, token: token,
        environment: reach.environment, locale: rows[row, columns.locale])
      phone.platform = reach.platform
      phone.hasAlertsOff = reach.hasAlertsOff
      // PostgreSQL created this JSON, so it can always be decoded.
      phone.problem = rows[row, columns.problem].flatMap {
        try? PhoneProblem(storedText: $0)
      }
      phone.timeZone = rows[row, columns.timeZone]
      phone.contactedAt = rows[row, columns.contactedAt]
      phone.installationID = rows[row, columns.installation].map(InstallationID.init)
      views[index].phones.append(phone)
      addOptOuts(rows[row, columns.optOuts], app, owner, index)
    }
  }

  mutating func readContacts(_ rows: QueryResult) {
    let columns = ContactRead.all
    for row in 0..<rows.rowCount {
      guard let ride = rows[row, columns.ride].map(RideID.init), let app = rows[row, columns.app],
        let owner = rows[row, columns.owner], let at = rows[row, columns.contactedAt]
      else { continue }
      views[index(of: ride)].contacts.append(
        OwnerContact(app: App(rawValue: app), owner: OwnerID(owner), at: at))
    }
  }

  mutating func readPreferences(_ rows: QueryResult) {
    let columns = PreferenceRead.all
    for row in 0..<rows.rowCount {
      guard let ride = rows[row, columns.ride].map(RideID.init), let app = rows[row, columns.app],
        let owner = rows[row, columns.owner].map(OwnerID.init)
      else { continue }
      addOptOuts(rows[row, columns.optOuts], app, owner, index(of: ride))
    }
  }

  mutating func readReceipts(_ rows: QueryResult) {
    let columns = ReceiptRead.all
    for row in 0..<rows.rowCount {
      guard let ride = rows[row, columns.ride].map(RideID.init),
        let push = rows[row, columns.push].flatMap({ PushID($0) })
      else { continue }
      views[index(of: ride)].seen.insert(push)
    }
  }

  mutating func readReporters(_ rows: QueryResult) {
    let columns = ReporterRead.all
    for row in 0..<rows.rowCount {
      guard let ride = rows[row, columns.ride].map(RideID.init), let app = rows[row, columns.app],
        let owner = rows[row, columns.owner].map(OwnerID.init)
      else { continue }
      views[index(of: ride)].reporters.insert(PhoneOwner(App(rawValue: app), owner))
    }
  }

  /// Calls a function with what was read of a ride, without a copy; nil if nothing was.
  func withView<Result>(of ride: RideID, _ use: (RideView) -> Result) -> Result? {
    guard let index = indices[ride] else { return nil }
    return use(views[index])
  }

  /// Returns the view of one ride, of the rows read so far.
  func view(of id: RideID, _ memo: Memo = Memo()) -> RideView {
    var view = indices[id].map { views[$0] } ?? RideView(rideID: id, ride: nil)
    view.memo = memo
    return view
  }
}
