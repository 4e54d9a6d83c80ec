import Base
package import RideCore

/// What a person searches pushes by.
package enum SearchKey: Hashable, Sendable {
  case owner(OwnerID)
  case push(PushID)
  case token(TokenSuffix)
}

/// The end of a token, or a whole one.
package struct TokenSuffix: Hashable, Sendable {
  /// As it was given, or in lower case if it is hexadecimal.
  package let text: String
  /// The forms in which tokens may have it: as it was given, as those of Android are stored, and in
  /// lower case if it is hexadecimal.
  let forms: [String]

  /// The number of characters that the ledger stores of each token.
  static let storedCharacters = 6

  /// The last characters of each form, which the ledger stores.
  var stored: [String] { forms.map { String($0.suffix(Self.storedCharacters)) } }

  /// Nil unless the text is 6 to 512 letters, digits, `_`, `:` and `-`; a leading `…` is ignored.
  package init?(_ text: String) {
    let end = String(text.drop { $0 == "…" })
    guard (Self.storedCharacters...512).contains(end.utf8.count),
      end.utf8.allSatisfy({ byte in
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
          UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "_"), UInt8(ascii: ":"),
          UInt8(ascii: "-"):
          true
        default: false
        }
      })
    else { return nil }
    self.text = end.allSatisfy(\.isHexDigit) ? end.lowercased() : end
    forms = self.text == end ? [end] : [end, self.text]
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

  /// The most phones by which a person's pushes are searched for, the newest.
  private static let phones = 100

  /// How far back pushes are searched for, until there are enough. Each ride is looked up in each day
  /// of the ledger, and each push is on a page of its own: a month of a busy driver is slow to read.
  private static let windows = ["3 days", "10 days", nil]

  /// The limit of a whole search. A ledger whose indexes are not built yet takes longer.
  package static let timeout: Duration = .seconds(30)

  /// Returns what is recorded.
  ///
  /// - Parameter timeout: the limit of all reads together.
  /// - Throws: `PostgresError`; a timeout if the database lacks the indexes of the search.
  package func result(
    of key: SearchKey, timeout: Duration = Self.timeout
  ) async throws(PostgresError) -> SearchResult {
    let reads = SearchReads(session: session, deadline: .now + timeout)
    var result: SearchResult
    switch key {
    case .owner(let owner): result = try await person(owner, reads)
    case .push(let id): result = try await push(id, reads)
    case .token(let suffix): result = try await token(suffix, reads)
    }
    result.revisions = try await RevisionRegistry(session: session).named(
      in: result.pushes.items, timeout: try reads.rest())
    return result
  }

  private func push(
    _ id: PushID, _ reads: SearchReads
  ) async throws(PostgresError) -> SearchResult {
    let rows = try await reads.read([Call(SearchStatements.ofPush, [id.description])])
    return SearchResult(now: rows.now, pushes: try Page(LedgerRow.all(rows.results[0])))
  }

  private func person(
    _ owner: OwnerID, _ reads: SearchReads
  ) async throws(PostgresError) -> SearchResult {
    let apps = try await reads.read([Call(SearchStatements.apps)]).results[0]
    let names = (0..<apps.rowCount).compactMap { apps.string($0, 0) }
    let whose = [owner.text, PostgresArray.literal(names)]
    let found = try await reads.read([
      Call(SearchStatements.phonesOfOwner, whose + [String(Self.phones)]),
      Call(SearchStatements.startTokensOfOwner, whose + [Self.more]),
      Call(SearchStatements.contactsOfOwner, whose),
      Call(SearchStatements.ridesOfOwner(apps: names), [owner.text, Self.more] + names),
    ])
    let phones = try FoundPhone.all(found.results[0])
    let rides = try Page(FoundRide.all(found.results[3]))
    let rideIDs = PostgresArray.literal(rides.items.map(\.id))
    let cards = try await reads.read([
      Call(SearchStatements.cardsOfOwner, whose + [rideIDs, Self.more])
    ])
    // Events about no ride are in a pseudo ride for each app.
    let own = names.map { RideID(ofPerson: owner, app: App(rawValue: $0)) }
    let pushes = try await newest(
      reads, SearchStatements.pushesOfPerson,
      [
        PostgresArray.literal(phones.map(\.tokenSuffix)),
        PostgresArray.literal(phones.map { "\($0.id)" }),
        PostgresArray.literal(rides.items.map(\.id) + own),
        PostgresArray.literal(rides.items.map(\.app) + names), Self.more,
      ])
    return SearchResult(
      now: cards.now, phones: Page(phones),
      startTokens: try Page(FoundStartToken.all(found.results[1])),
      activities: try Page(RideHistory.Activity.all(cards.results[0])),
      contacts: try RideHistory.Contact.all(found.results[2]), rides: rides, pushes: pushes)
  }

  private func token(
    _ suffix: TokenSuffix, _ reads: SearchReads
  ) async throws(PostgresError) -> SearchResult {
    let forms = [PostgresArray.literal(suffix.forms), Self.more]
    let found = try await reads.read([
      Call(SearchStatements.phonesOfToken, forms),
      Call(SearchStatements.startTokensOfToken, forms),
      Call(SearchStatements.cardsOfToken, forms),
    ])
    let phones = try FoundPhone.all(found.results[0])
    let pushes = try await newest(
      reads, SearchStatements.pushesOfToken,
      [
        PostgresArray.literal(suffix.stored), PostgresArray.literal(phones.map { "\($0.id)" }),
        Self.more,
      ])
    return SearchResult(
      now: found.now, phones: Page(phones),
      startTokens: try Page(FoundStartToken.all(found.results[1])),
      activities: try Page(RideHistory.Activity.all(found.results[2])), pushes: pushes)
  }

  /// Returns the newest pushes that a statement finds, whose last parameter is how far back it looks.
  private func newest(
    _ reads: SearchReads, _ statement: Statement, _ parameters: [String?]
  ) async throws(PostgresError) -> Page<LedgerRow> {
    var page = Page<LedgerRow>([])
    for window in Self.windows {
      let rows = try await reads.read([Call(statement, parameters + [window])]).results[0]
      page = try Page(LedgerRow.all(rows))
      if page.hasMore { break }
    }
    return page
  }

  /// One more than is returned, to find out whether there are more.
  private static let more = String(limit + 1)
}

/// The reads of one search, which share its time limit.
private struct SearchReads: Sendable {
  let session: PostgresSession
  let deadline: ContinuousClock.Instant

  /// Returns the time that is left for the next read.
  func rest() throws(PostgresError) -> Duration {
    let rest = deadline - .now
    guard rest > .zero else { throw PostgresError(.timeout(sent: false)) }
    return rest
  }

  /// Runs queries in one read-only snapshot; returns their results and the database's time.
  func read(
    _ calls: [Call]
  ) async throws(PostgresError) -> (results: [QueryResult], now: Timestamp) {
    let results = try await session.run(
      [Call(RideSnapshot.begin), Call(SearchStatements.settings)] + calls
        + [Call(RideSnapshot.commit)], timeout: try rest())
    return (Array(results[2..<(2 + calls.count)]), try results[1].value(0, 0))
  }
}
