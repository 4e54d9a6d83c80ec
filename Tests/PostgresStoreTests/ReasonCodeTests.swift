import Base
import Testing

@testable import PostgresStore
@testable import RideCore

@Suite(.timeLimit(.minutes(60))) struct ReasonCodeTests {
  @Test func `the ledger keeps the code of each reason next to its text`() async throws {
    let session = try PostgresSession(conninfo: try await migratedDatabase())
    let rules = RuleSet(activeStates: ["e"], finalStates: [], events: [], rules: [])
    let store = PostgresRideStore(
      node: "11111111-2222-8333-8444-555555555555", host: "test", apps: [.customer], rules: rules,
      lease: .seconds(600), claims: session, settlements: session, log: Log { _, _, _ in })
    try await session.script("insert into ridepulse.rides (id, state) values ('r', 'e')")
    let claim = try await store.claim(limit: 10, asleep: false)
    let ride = try #require(claim.rides.first)
    let decision = decide(
      ride.view, by: EngineConfiguration(rules: rules, bundleIDs: [:]), now: claim.now)
    var settlement = decision.settled([], now: claim.now, jitter: { 0 })
    let codes =
      LedgerReason.Engine.allCases.map { LedgerReason.Code.engine($0) }
      + [.service("Unregistered"), .status(418)]
    settlement.entries = codes.map { code in
      var entry = LedgerEntry(
        id: PushID(of: code.word), event: RideEvent(id: 1, name: "e", at: claim.now), rule: "r",
        app: .customer, pushType: .alert, status: .suppressed, attempts: 0)
      entry.reason = LedgerReason(code, "text of \(code.word)")
      return entry
    }
    _ = try await store.settle([ClaimedSettlement(claim: ride.claim, settlement: settlement)])
    let query =
      "select string_agg(reason_code, ',' order by reason_code collate \"C\") "
      + "from ridepulse.ledger where reason = 'text of ' || reason_code"
    let words = try await session.value(query)?.split(separator: ",").map(String.init)
    #expect(words == codes.map(\.word).sorted())
    #expect(words?.map { LedgerReason.Code(word: $0) }.count == codes.count)
  }
}
