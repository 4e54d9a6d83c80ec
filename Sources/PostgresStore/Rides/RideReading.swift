import RideCore

/// The reads about rides, apart from their memos, that decisions by a rule set need.
struct RideReading {
  private let apps: String
  private let cardApps: [App]
  private let startEvents: String
  private let broadcasts: Bool
  private let phones: Statement
  private let lostContactApps: [App]
  private let cards: Statement
  private let startTokens: Statement
  private let cappedRules: Set<String>

  /// - Parameter apps: the apps whose phones rules may address.
  init(apps: [App], rules: RuleSet) {
    self.apps = PostgresArray.literal(apps.map(\.rawValue))
    cardApps = rules.cardApps
    startEvents = PostgresArray.literal(rules.startEvents)
    broadcasts = rules.broadcasts
    lostContactApps = rules.lostContactApps
    phones = PhoneRead.ofRides(for: rules)
    let asks = rules.cardsHaveTopics
    cards = (asks ? CardRead.withOptOuts : CardRead.all).statement
    startTokens = (asks ? StartTokenRead.withOptOuts : StartTokenRead.all).ofRides
    cappedRules = rules.cappedRules
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

  /// Returns the reads. Events come before the rides, so that none is newer than the ride that it
  /// is rendered from.
  ///
  /// - Parameter phoneLimit: the limit of phones of an owner, by default those of one part of a
  ///   decision and one more; nil for no limit.
  func reads(_ claims: ClaimReader, phoneLimit: Int? = OpenPart.size + 1) -> [Read] {
    let rides = PostgresArray.literal(claims.claims.map(\.rideID))
    let inMemos = claims.phonesInMemos
    let parts = claims.openParts
    let eventLimit = EventRead.limit
    var reads = [
      Read(EventRead.all.statement, [rides, String(eventLimit + 1)]) {
        $0.readEvents($1, limit: eventLimit)
      },
      Read(RideRead.all.statement, [rides]) { $0.readRides($1) },
      Read(ParticipantRead.all.statement, [rides]) { $0.readParticipants($1) },
      Read(
        phones,
        [
          rides, apps, PostgresArray.literal(inMemos.map(\.ride)),
          PostgresArray.literal(inMemos.map { String($0.phone) }),
          PostgresArray.literal(parts.map(\.ride)),
          PostgresArray.literal(parts.map { String($0.part.after) }),
          phoneLimit.map { String($0) }, String(eventLimit + 1),
        ]
      ) { $0.readPhones($1) },
    ]
    let raw = claims.claims.map(\.rideID).filter { RawPush.Source(of: $0)?.hasPhone == true }
    if !raw.isEmpty {
      let rides = PostgresArray.literal(raw)
      reads.append(Read(PhoneRead.ofRawPushes, [rides]) { $0.readPhones($1) })
    }
    if !lostContactApps.isEmpty {
      let apps = PostgresArray.literal(lostContactApps.map(\.rawValue))
      reads.append(Read(ContactRead.all.statement, [rides, apps]) { $0.readContacts($1) })
    }
    let awaited = claims.awaitedPushes
    if !awaited.isEmpty {
      let parameters = [
        PostgresArray.literal(awaited.map(\.ride)),
        PostgresArray.literal(awaited.map(\.push.description)),
      ]
      reads.append(Read(ReceiptRead.all.statement, parameters) { $0.readReceipts($1) })
    }
    if !cappedRules.isEmpty {
      let permits = claims.permits(ofRules: cappedRules)
      if !permits.isEmpty {
        reads.append(
          Read(
            PermitRead.all.ofRides,
            [
              PostgresArray.literal(permits.map(\.ride)),
              PostgresArray.literal(permits.map(\.id.description)),
            ]
          ) { $0.readPermits($1) })
      }
    }
    return cardApps.isEmpty ? reads : reads + readsOfCards(claims, rides)
  }

  private func readsOfCards(_ claims: ClaimReader, _ rides: String) -> [Read] {
    let starts = claims.startsInMemos
    let channels = Read(ChannelRead.all.statement, [rides]) { $0.readChannels($1) }
    return (broadcasts ? [channels] : []) + [
      Read(cards, [rides]) { $0.readCards($1) },
      Read(
        startTokens,
        [
          rides, PostgresArray.literal(cardApps.map(\.rawValue)), startEvents,
          PostgresArray.literal(starts.map(\.ride)),
          PostgresArray.literal(starts.map { String($0.token) }),
        ]
      ) { $0.readStartTokens($1) },
    ]
  }
}
