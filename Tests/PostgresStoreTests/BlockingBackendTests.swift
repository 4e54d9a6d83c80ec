import LocalStack
import Testing

@testable import PostgresStore

@Suite("Who holds rows back", .timeLimit(.minutes(60))) struct BlockingBackendTests {
  @Test func `R41: the transaction that goes back the furthest is named with its age`()
    async throws
  {
    let url = try await makeDatabase()
    let session = try PostgresSession(conninfo: url)
    try await session.script("create table seen (n int)")
    let reader = try PostgresSession(conninfo: url, applicationName: "the reader")
    let pid = try await reader.value("select pg_backend_pid()") ?? ""
    let reading = reader.begin("select count(*) from seen, pg_sleep(600)")
    try await session.waitUntilSleeping(pid)
    // A later holder is not the oldest, although both hold a snapshot.
    let other = try PostgresSession(conninfo: url, applicationName: "another")
    for n in 0..<5 { try await session.script("insert into seen values (\(n))") }
    let later = try await other.value("select pg_backend_pid()") ?? ""
    let sleeping = other.begin("select pg_sleep(600)")
    try await session.waitUntilSleeping(later)
    let found = try #require(try await session.rowHolder { $0.name == "the reader" })
    #expect(found.kind == .session && found.processID == Int32(pid))
    #expect(try #require(found.age) > .zero && found.transactions >= 5)
    for pid in [pid, later] {
      _ = try await session.value("select pg_cancel_backend($1::int)", [pid])
    }
    _ = await (reading.value, sleeping.value)
    #expect(try await BlockingBackend.oldest(session)?.name.hasSuffix("er") != true)
    for session in [session, reader, other] { await session.close() }
  }

  @Test func `R41: a prepared transaction is found, which no session shows`() async throws {
    let cluster = try await LocalCluster(options: ["max_prepared_transactions=1"])
    let session = try PostgresSession(conninfo: cluster.url())
    let writer = try PostgresSession(conninfo: cluster.url())
    try await session.script("create table seen (n int)")
    try await writer.script("begin; insert into seen values (1); prepare transaction 'forgotten'")
    let holder = try await session.rowHolder { $0.kind == .prepared }
    #expect(holder?.name == "forgotten" && holder?.processID == nil && holder?.age != nil)
    for session in [session, writer] { await session.close() }
    await cluster.stop()
  }
}
