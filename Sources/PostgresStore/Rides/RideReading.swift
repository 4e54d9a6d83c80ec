import RideCore

/// The reads about rides, apart from their memos, that decisions by a rule set need.
struct RideReading {
  private let apps: [App]
  private let cardApps: [App]
  private let startEvents: Set<String>
  private let broadcasts: Bool
  private let readsTraces: Bool
  private let phones: Statement
  private let contactApps: [App]
  private let postApps: [App]
  private let postsHaveTopics: Bool
  private let rides: Statement
  private let smallRides: Statement
  private let cards: Statement
  private let startTokens: Statement

  /// - Parameters:
  ///   - apps: the apps whose phones rules may address.
  ///   - traces: whether the traces of events are read.
  init(apps: [App], rules: RuleSet, traces: Bool = false) {
    readsTraces = traces
    postApps = rules.postApps
    // A post needs no bundle ID of its app.
    self.apps = apps + postApps.filter { !apps.contains($0) }
    postsHaveTopics = rules.postsHaveTopics
    cardApps = rules.cardApps
    startEvents = Set(rules.startEvents)
    broadcasts = rules.broadcasts
    contactApps = rules.contactApps
    phones = PhoneRead.ofPeople(for: rules)
    self.rides = (rules.readsEntries ? RideRead.withEntries : RideRead.all).statement
    smallRides = (rules.readsEntries ? RideRead.smallWithEntries : RideRead.small).statement
    let asks = rules.cardsHaveTopics
    cards = (asks ? CardRead.withOptOuts : CardRead.all).statement
    startTokens = (asks ? StartTokenRead.withOptOuts : StartTokenRead.all).ofPeople
  }

  /// A statement, and the function that takes its rows.
  struct Read {
    var call: Call
    var take: (inout RideRows, QueryResult) -> Void

    init(
      _ statement: Statement, _ parameters: [String?],
      _ take: @escaping (inout RideRows, QueryResult) -> Void
    ) {
      call = Call(statement, parameters)
      self.take = take
    }
  }

  /// Returns the reads about rides. Events come before the rides, so that none is newer than the
  /// ride that it is rendered from.
  func reads(_ claims: ClaimReader, _ size: ReadSize) -> [Read] {
    let rides = PostgresArray.literal(claims.claims.map(\.rideID))
    let events = EventRead.of(size, traces: readsTraces)
    var reads = [
      Read(events.statement, [rides, String(size.eventLimit + 1)]) {
        $0.readEvents($1, events, size)
      },
      Read(size == .small ? smallRides : self.rides, [rides]) { $0.readRides($1) },
      Read(ParticipantRead.all.statement, [rides]) { $0.readParticipants($1) },
    ]
    let raw = claims.claims.map(\.rideID).filter { RawPush.Source(of: $0)?.hasPhone == true }
    if !raw.isEmpty {
      let rides = PostgresArray.literal(raw)
      reads.append(Read(PhoneRead.ofRawPushes, [rides]) { $0.readPhones($1) })
    }
    let awaited = claims.awaitedPushes
    if !awaited.isEmpty {
      let parameters = [
        PostgresArray.literal(awaited.map(\.ride)),
        PostgresArray.literal(awaited.map(\.push.description)),
      ]
      reads.append(Read(ReceiptRead.all.statement, parameters) { $0.readReceipts($1) })
      let owners = RidePerson.rows.arrays(claims.escalationOwners)
      reads.append(Read(ReporterRead.all.statement, owners) { $0.readReporters($1) })
    }
    if cardApps.isEmpty { return reads }
    reads.append(Read(cards, [rides]) { $0.readCards($1) })
    if broadcasts {
      reads.append(Read(ChannelRead.all.statement, [rides]) { $0.readChannels($1) })
    }
    return reads
  }

  /// Reads the people of rides, whose own rows the reader has taken.
  ///
  /// - Parameters:
  ///   - phoneLimit: the limit of phones of a person, by default those of one part of a decision and
  ///     one more; nil for no limit.
  ///   - run: executes calls in one round trip.
  func readPeople(
    _ reader: inout ClaimReader, phoneLimit: Int? = OpenPart.size + 1,
    by run: ([Call]) async throws -> [QueryResult]
  ) async throws {
    let reads = readsOfPeople(reader, phoneLimit: phoneLimit)
    let results = try await run([Call(ClaimStatements.lookups)] + reads.map(\.call))
    reader.rows.take(reads, results.dropFirst())
  }

  /// Returns the reads about the people of rides, without those of nobody.
  ///
  /// Of no ride it returns all: a read of no people fails, too, if its table can't be read, as
  /// `PostgresRideStore.check` requires.
  func readsOfPeople(
    _ claims: ClaimReader, phoneLimit: Int? = OpenPart.size + 1
  ) -> [Read] {
    var (people, withContacts, withCards) = ([RidePerson](), [RidePerson](), [RidePerson]())
    var withPosts: [RidePerson] = []
    for index in claims.claims.indices {
      let ride = claims.claims[index].rideID
      let covered = claims.memos[index].part?.after ?? 0
      let found = claims.rows.withView(of: ride) { view in
        (
          view.people(of: apps),
          !claims.memos[index].awaitedStarts.isEmpty
            || view.events.contains { startEvents.contains($0.name) }
        )
      }
      guard let (owners, startsCard) = found else { continue }
      let ofPosts = claims.memos[index].waitingOwners { $0.kind == .post }
      let ofContacts = claims.memos[index].waitingOwners { contactApps.contains($0.app) }
      for owner in ofContacts where !owners.contains(owner) && !ofPosts.contains(owner) {
        withContacts.append(RidePerson(ride: ride, person: owner, covered: covered))
      }
      for owner in owners + ofPosts.filter({ !owners.contains($0) }) {
        let person = RidePerson(ride: ride, person: owner, covered: covered)
        people.append(person)
        if contactApps.contains(owner.app) { withContacts.append(person) }
        if postApps.contains(owner.app) { withPosts.append(person) }
        if startsCard, cardApps.contains(owner.app) { withCards.append(person) }
      }
    }
    var reads = [
      Read(
        phones,
        RidePerson.rows.arrays(people) + TokenInMemo.rows.arrays(claims.phonesInMemos)
          + [phoneLimit.map { String($0) }]
      ) { $0.readPhones($1) }
    ]
    let isCheck = claims.claims.isEmpty
    if !contactApps.isEmpty, isCheck || !withContacts.isEmpty {
      let parameters = RidePerson.rows.arrays(withContacts)
      reads.append(Read(ContactRead.all.statement, parameters) { $0.readContacts($1) })
    }
    if postsHaveTopics, isCheck || !withPosts.isEmpty {
      let parameters = RidePerson.rows.arrays(withPosts)
      reads.append(Read(PreferenceRead.all.statement, parameters) { $0.readPreferences($1) })
    }
    let starts = cardApps.isEmpty ? [] : claims.startsInMemos
    if !cardApps.isEmpty, isCheck || !withCards.isEmpty || !starts.isEmpty {
      let parameters = RidePerson.rows.arrays(withCards) + TokenInMemo.rows.arrays(starts)
      reads.append(Read(startTokens, parameters) { $0.readStartTokens($1) })
    }
    return reads
  }
}

extension Memo {
  /// Returns whom some of what waits addresses, each once: the ride may not name them any more.
  fileprivate func waitingOwners(of isWanted: (LedgerEntry) -> Bool) -> [PhoneOwner] {
    var owners: [PhoneOwner] = []
    for item in waiting where isWanted(item.entry) {
      guard let owner = item.entry.owner else { continue }
      let person = PhoneOwner(item.entry.app, owner)
      if !owners.contains(person) { owners.append(person) }
    }
    return owners
  }
}

/// A person of a ride, as a parameter of reads.
struct RidePerson: Sendable {
  var ride: RideID
  var person: PhoneOwner
  /// The last of the person's phones that is addressed already, or 0.
  var covered: Int64 = 0

  static let rows = RowParameters<RidePerson>(
    after: 0,
    [
      .text("ride_id") { $0.ride.text }, .text("app") { $0.person.app.rawValue },
      .text("owner_id") { $0.person.owner.text }, .integer("covered") { $0.covered },
    ])
}

/// A phone or start token that a ride's memo names, as a parameter of reads.
struct TokenInMemo: Sendable {
  var ride: RideID
  var id: Int64

  static let rows = RowParameters<TokenInMemo>(
    after: RidePerson.rows.last,
    [.text("ride_id") { $0.ride.text }, .integer("token_id") { $0.id }])
}
