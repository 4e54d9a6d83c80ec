package import RideCore

/// What a person searches pushes by.
package enum SearchKey: Hashable, Sendable {
  case owner(OwnerID)
  case push(PushID)
  case token(TokenSuffix)
}

/// The end of a token, or a whole one.
package struct TokenSuffix: Hashable, Sendable {
  /// At least as many digits as the ledger stores, in lower case.
  package let digits: String

  /// The number of digits that the ledger stores of each token.
  static let storedDigits = 6

  /// The last digits, which the ledger stores.
  var stored: String { String(digits.suffix(Self.storedDigits)) }

  /// Nil unless the text is 6 to 512 hexadecimal digits; a leading `…` is ignored.
  package init?(_ text: String) {
    let digits = text.drop { $0 == "…" }.lowercased()
    guard (Self.storedDigits...512).contains(digits.utf8.count),
      digits.utf8.allSatisfy({ (48...57).contains($0) || (97...102).contains($0) })
    else { return nil }
    self.digits = digits
  }
}

/// Finds pushes without knowing the ride, with the phones and rides that explain them.
package struct PushSearch: Sendable {
  private let session: PostgresSession

  /// Uses an open session, which it does not close.
  package init(session: PostgresSession) {
    self.session = session
  }

  /// The most rows of each kind that a search returns.
  package static let limit = 50

  /// The pushes of a person are searched for by this many phones and rides, the newest. Each ride is
  /// looked up in each day of the ledger.
  private static let reach = 100

  /// The limit of a whole search. A ledger whose indexes are not built yet takes longer.
  private static let timeout: Duration = .seconds(30)

  /// Returns what is recorded, in one snapshot.
  ///
  /// - Throws: `PostgresError`; a timeout if the database lacks the indexes of the search.
  package func result(of key: SearchKey) async throws(PostgresError) -> SearchResult {
    var result: SearchResult
    switch key {
    case .owner(let owner): result = try await person(owner)
    case .push(let id): result = try await push(id)
    case .token(let suffix): result = try await token(suffix)
    }
    result.revisions = try await RevisionRegistry(session: session).named(in: result.pushes.items)
    return result
  }

  private func push(_ id: PushID) async throws(PostgresError) -> SearchResult {
    let rows = try await read([Call(SearchStatements.ofPush, [id.description])])
    return SearchResult(now: rows.now, pushes: Page(LedgerRow.all(rows.results[0])))
  }

  private func person(_ owner: OwnerID) async throws(PostgresError) -> SearchResult {
    let apps = try await read([Call(SearchStatements.apps)]).results[0]
    let names = (0..<apps.rowCount).compactMap { apps.string($0, 0) }
    let whose = [owner.text, PostgresArray.literal(names)]
    let found = try await read([
      Call(SearchStatements.phonesOfOwner, whose + [String(Self.reach)]),
      Call(SearchStatements.startTokensOfOwner, whose + [Self.more]),
      Call(SearchStatements.contactsOfOwner, whose),
      Call(SearchStatements.ridesOfOwner(apps: names), [owner.text, String(Self.reach)]),
    ])
    let phones = FoundPhone.all(found.results[0])
    let rides = FoundRide.all(found.results[3])
    let rideIDs = PostgresArray.literal(rides.map(\.id))
    let rest = try await read([
      Call(
        SearchStatements.pushesOfPerson,
        [
          PostgresArray.literal(phones.map(\.tokenSuffix)),
          PostgresArray.literal(phones.map { "\($0.id)" }), rideIDs,
          PostgresArray.literal(rides.map(\.app)), Self.more,
        ]),
      Call(SearchStatements.cardsOfOwner, whose + [rideIDs, Self.more]),
    ])
    return SearchResult(
      now: rest.now, phones: Page(phones), startTokens: Page(FoundStartToken.all(found.results[1])),
      activities: Page(RideHistory.Activity.all(rest.results[1])),
      contacts: RideHistory.Contact.all(found.results[2]), rides: Page(rides),
      pushes: Page(LedgerRow.all(rest.results[0])))
  }

  private func token(_ suffix: TokenSuffix) async throws(PostgresError) -> SearchResult {
    let digits = [suffix.digits, Self.more]
    let found = try await read([
      Call(SearchStatements.phonesOfToken, digits),
      Call(SearchStatements.startTokensOfToken, digits),
      Call(SearchStatements.cardsOfToken, digits),
    ])
    let phones = FoundPhone.all(found.results[0])
    let rest = try await read([
      Call(
        SearchStatements.pushesOfToken,
        [suffix.stored, PostgresArray.literal(phones.map { "\($0.id)" }), Self.more])
    ])
    return SearchResult(
      now: rest.now, phones: Page(phones), startTokens: Page(FoundStartToken.all(found.results[1])),
      activities: Page(RideHistory.Activity.all(found.results[2])),
      pushes: Page(LedgerRow.all(rest.results[0])))
  }

  /// One more than is returned, to find out whether there are more.
  private static let more = String(limit + 1)

  /// Runs queries in one read-only snapshot; returns their results and the database's time.
  private func read(
    _ calls: [Call]
  ) async throws(PostgresError) -> (results: [QueryResult], now: Timestamp) {
    let results = try await session.run(
      [Call(RideSnapshot.begin), Call(SearchStatements.settings)] + calls
        + [Call(RideSnapshot.commit)], timeout: Self.timeout)
    let now = Timestamp(microseconds: results[1].int64(0, 0) ?? 0)
    return (Array(results[2..<(2 + calls.count)]), now)
  }
}
