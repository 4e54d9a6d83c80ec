import Testing

@testable import PostgresStore

@Suite(.timeLimit(.minutes(60))) struct SessionPreparedTests {
  private let statement = Statement(name: "double_it", sql: "select $1::int * 2")
  private let countPrepared = direct(
    "select count(*) from pg_prepared_statements where name like 'double\\_it\\_%'")

  private func expectDoubles(_ session: PostgresSession) async throws {
    let results = try await session.run([Call(statement, ["21"]), Call(statement, ["4"])])
    #expect(results.map { $0.int64(0, 0) } == [42, 8])
  }

  @Test func `a statement is prepared once for each connection`() async throws {
    let events = EventLog()
    let session = try PostgresSession(
      conninfo: try await makeDatabase(), onEvent: events.record)
    try await expectDoubles(session)
    try await expectDoubles(session)
    #expect(try await session.run([countPrepared])[0].int64(0, 0) == 1)
    _ = await events.nextConnection()
    _ = try? await session.value("select pg_terminate_backend(pg_backend_pid())")
    _ = await events.nextConnection()
    #expect(try await session.run([countPrepared])[0].int64(0, 0) == 0)
    try await expectDoubles(session)
    #expect(try await session.run([countPrepared])[0].int64(0, 0) == 1)
  }

  @Test func `a statement that vanished is not missed`() async throws {
    let session = try PostgresSession(conninfo: try await makeDatabase())
    try await expectDoubles(session)
    try await session.script("deallocate all")
    try await expectDoubles(session)
    // From here on nothing is prepared any more.
    #expect(try await session.run([countPrepared])[0].int64(0, 0) == 0)
  }

  @Test func `a name that another client took does no harm`() async throws {
    let session = try PostgresSession(conninfo: try await makeDatabase())
    try await session.script("prepare \(statement.preparedName) as select 'a stranger''s'")
    try await expectDoubles(session)
  }

  @Test func `a repeated run happens once`() async throws {
    let session = try PostgresSession(conninfo: try await makeDatabase())
    try await session.script("create table t (n int)")
    let insert = Statement(name: "insert_t", sql: "insert into t values ($1)")
    let calls = [direct("insert into t values (0)"), Call(insert, ["1"])]
    _ = try await session.run(calls)
    try await session.script("deallocate all")
    _ = try await session.run(calls)
    #expect(try await session.value("select count(*) from t") == "4")
  }

  @Test func `a changed table does not break a prepared statement`() async throws {
    let session = try PostgresSession(conninfo: try await makeDatabase())
    try await session.script("create table t (n int); insert into t values (1)")
    let all = Call(Statement(name: "all_t", sql: "select * from t"))
    #expect(try await session.run([all])[0].columnCount == 1)
    try await session.script("alter table t add m int")
    #expect(try await session.run([all])[0].columnCount == 2)
  }
}
