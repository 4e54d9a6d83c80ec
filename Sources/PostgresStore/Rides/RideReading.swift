import RideCore

/// What is read of rides, beside their memos, for decisions by some rules.
struct RideReading {
  private let apps: String
  private let cardApps: [App]
  private let startEvents: String

  /// - Parameter apps: The apps whose phones rules may speak to.
  init(apps: [App], rules: RuleSet) {
    self.apps = PostgresArray.literal(apps.map(\.rawValue))
    cardApps = rules.cardApps
    startEvents = PostgresArray.literal(rules.startEvents)
  }

  /// The statements, in the order of their results. Events come before the rides, so that none is
  /// newer than the ride that it is rendered from.
  func calls(_ claims: ClaimReader) -> [Call] {
    let rides = PostgresArray.literal(claims.claims.map(\.rideID))
    let phones = claims.phonesInMemos
    var calls = [
      Call(ClaimStatements.events, [rides]), Call(ClaimStatements.rides, [rides]),
      Call(
        ClaimStatements.phones,
        [
          rides, apps, PostgresArray.literal(phones.map(\.ride)),
          PostgresArray.literal(phones.map { String($0.phone) }),
        ]),
    ]
    if cardApps.isEmpty { return calls }
    let starts = claims.startsInMemos
    calls.append(Call(ClaimStatements.cards, [rides]))
    calls.append(
      Call(
        ClaimStatements.startTokens,
        [
          rides, PostgresArray.literal(cardApps.map(\.rawValue)), startEvents,
          PostgresArray.literal(starts.map(\.ride)),
          PostgresArray.literal(starts.map { String($0.token) }),
        ]))
    return calls
  }

  /// Takes over what `calls` brought.
  func read(_ results: ArraySlice<QueryResult>, into rows: inout RideRows) {
    var results = results
    if let events = results.popFirst() { rows.readEvents(events) }
    if let rides = results.popFirst() { rows.readRides(rides) }
    if let phones = results.popFirst() { rows.readPhones(phones) }
    if cardApps.isEmpty { return }
    if let cards = results.popFirst() { rows.readCards(cards) }
    if let tokens = results.popFirst() { rows.readStartTokens(tokens) }
  }
}
