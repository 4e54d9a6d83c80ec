import TestSupport
import Testing

@testable import PostgresStore

@Suite(.timeLimit(.minutes(60))) struct ResponseTrackerTests {
  private static let start = ContinuousClock.now
  private static func failure(_ kind: PostgresError.Kind) -> Transaction.Outcome {
    .failure(PostgresError(kind))
  }

  @Test(
    arguments: [
      ("an answer", .success([]), false),
      (
        "a refusal is an answer", failure(.server(ServerError(sqlState: "23505", message: ""))),
        false
      ),
      ("no connection", failure(.unreachable(reason: "")), true),
      ("a lost connection", failure(.connectionLost(sent: true, reason: "")), true),
      ("no answer in time", failure(.timeout(sent: true)), true),
    ] as [(String, Transaction.Outcome, Bool)])
  private func `R43: a run without an answer is a stall until one has it`(
    what: String, outcome: Transaction.Outcome, isStalled: Bool
  ) {
    var responses = ResponseTracker()
    let first = responses.asked(now: Self.start)
    responses.ended(first, outcome)
    #expect(responses.isStalled(for: .seconds(5), now: Self.start) == isStalled)
    let second = responses.asked(now: Self.start)
    #expect(responses.isStalled(for: .seconds(5), now: Self.start) == isStalled)
    responses.ended(second, .success([]))
    #expect(!responses.isStalled(for: .seconds(5), now: Self.start))
  }

  @Test func `R43: a run that waits too long is a stall, whatever else is answered`() {
    var responses = ResponseTracker()
    func isStalled(_ second: Int) -> Bool {
      responses.isStalled(for: .seconds(5), now: Self.start + .seconds(second))
    }
    #expect(!isStalled(1_000), "nothing waits")
    let slow = responses.asked(now: Self.start)
    let quick = responses.asked(now: Self.start + .seconds(1))
    responses.ended(quick, .success([]))
    #expect(!isStalled(4) && isStalled(5))
    responses.ended(slow, .success([]))
    #expect(!isStalled(1_000))
  }

  @Test func `R43: a database that stalls is seen, and seen to go on`() async throws {
    let url = try await makeDatabase()
    let session = try PostgresSession(conninfo: url)
    let other = try PostgresSession(conninfo: url)
    _ = try await session.value("select 1")
    #expect(!session.isStalled(for: .seconds(60)))
    try await other.script("select pg_advisory_lock(7)")
    let slow = session.begin("select 'done' from pg_advisory_lock(7)")
    try await wait(until: "the stall is seen") { session.isStalled(for: .milliseconds(100)) }
    try await other.script("select pg_advisory_unlock(7)")
    #expect(try await slow.value.get() == "done")
    #expect(!session.isStalled(for: .milliseconds(100)))
    for session in [session, other] { await session.close() }
    let nobody = try PostgresSession(conninfo: "host=/nowhere", leastTimeout: .zero)
    _ = try? await nobody.value("select 1", timeout: .milliseconds(50))
    #expect(nobody.isStalled())
    await nobody.close()
  }
}
