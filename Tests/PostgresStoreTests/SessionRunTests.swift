import Testing

@testable import PostgresStore

@Suite(.timeLimit(.minutes(60))) struct SessionRunTests {
  private let insert = Statement(name: "insert_t", sql: "insert into t values ($1)")

  private func sessionWithTable() async throws -> PostgresSession {
    let session = try PostgresSession(conninfo: try await makeDatabase())
    try await session.script("create table t (n int primary key); create table u (n int);")
    return session
  }

  @Test func `calls of one run share a transaction and answer in order`() async throws {
    let session = try await sessionWithTable()
    let transaction = direct("select txid_current()::text, $1", ["x"])
    let results = try await session.run([
      transaction, Call(insert, ["1"]), Call(insert, ["2"]), transaction,
    ])
    #expect(results.count == 4)
    #expect(results[0].string(0, 0) == results[3].string(0, 0))
    let later = try await session.run([transaction])
    #expect(later[0].string(0, 0) != results[0].string(0, 0), "the control: runs do not share")
  }

  @Test func `an error in the middle leaves nothing, and the session goes on`() async throws {
    let session = try await sessionWithTable()
    let error = await #expect(throws: PostgresError.self) {
      try await session.run([
        Call(insert, ["1"]), Call(insert, ["1"]), Call(insert, ["3"]), direct("select nothing"),
      ])
    }
    #expect(error?.server?.sqlState == "23505")
    #expect(error?.server?.statement == "insert_t")
    #expect(error?.server?.constraint == "t_pkey")
    #expect(error?.isTransient == false && error?.mayHaveCommitted == false)
    #expect(try await session.value("select count(*) from t") == "0")
    _ = try await session.run([Call(insert, ["1"])])
    #expect(try await session.value("select count(*) from t") == "1")
  }

  @Test func `what fails only at the commit is an error of the run`() async throws {
    let session = try await sessionWithTable()
    try await session.script(
      "alter table u add foreign key (n) references t deferrable initially deferred")
    let error = await #expect(throws: PostgresError.self) {
      try await session.run([direct("insert into u values (9)"), direct("select 1")])
    }
    #expect(error?.server?.sqlState == "23503")
    #expect(try await session.value("select count(*) from u") == "0")
  }

  @Test func `runs that come together are handled in order`() async throws {
    let session = try await sessionWithTable()
    try await withThrowingTaskGroup { group in
      for number in 0..<200 {
        group.addTask {
          let results = try await session.run([direct("select $1::int", ["\(number)"])])
          #expect(results[0].int64(0, 0) == Int64(number))
        }
      }
      try await group.waitForAll()
    }
  }

  @Test func `no calls need no connection`() async throws {
    let session = try PostgresSession(conninfo: "host=/nowhere")
    #expect(try await session.run([]).isEmpty)
  }

  @Test func `a script of several commands is one transaction`() async throws {
    let session = try await sessionWithTable()
    let error = await #expect(throws: PostgresError.self) {
      try await session.script("insert into t values (1); insert into t values (1);")
    }
    #expect(error?.server?.sqlState == "23505")
    #expect(try await session.value("select count(*) from t") == "0")
  }

  @Test func `a large question and a large answer do not lock each other`() async throws {
    let session = try await sessionWithTable()
    let text = String(repeating: "räder ", count: 2_000_000)
    let results = try await session.run(
      Array(repeating: direct("select $1", [text]), count: 3))
    #expect(results.allSatisfy { $0.string(0, 0) == text })
  }

  @Test(arguments: ["copy t to stdout", "copy t from stdin"])
  func `COPY is refused without a hang, and the session goes on`(sql: String) async throws {
    let session = try await sessionWithTable()
    for attempt in [0, 1] {
      let error = await #expect(throws: PostgresError.self) {
        if attempt == 0 { _ = try await session.run([direct(sql)]) }
        if attempt == 1 { try await session.script(sql) }
      }
      guard case .protocol(let reason) = error?.kind else {
        Issue.record("got \(String(describing: error))")
        return
      }
      #expect(reason.contains("COPY"))
      #expect(try await session.value("select 1") == "1")
    }
  }

  @Test func `a transaction that is left open is given up`() async throws {
    let session = try await sessionWithTable()
    let before = try await session.value("select pg_backend_pid()")
    let error = await #expect(throws: PostgresError.self) {
      try await session.script("begin; insert into t values (5);")
    }
    guard case .protocol = error?.kind else {
      Issue.record("got \(String(describing: error))")
      return
    }
    #expect(try await session.value("select count(*) from t") == "0")
    #expect(try await session.value("select pg_backend_pid()") != before)
  }

  @Test func `U1: a transaction that fails is rolled back, and its connection is kept`()
    async throws
  {
    let session = try await sessionWithTable()
    let before = try await session.value("select pg_backend_pid()")
    for _ in 0..<3 {
      let error = await #expect(throws: PostgresError.self) {
        try await session.run([
          direct("begin isolation level repeatable read"), Call(insert, ["5"]),
          direct("select 1 / 0"), direct("commit"),
        ])
      }
      #expect(error?.server?.sqlState == "22012")
    }
    #expect(try await session.value("select count(*) from t") == "0")
    #expect(try await session.value("select pg_backend_pid()") == before)
  }

  @Test func `a NUL in a parameter is refused before it cuts the value`() async throws {
    let session = try await sessionWithTable()
    let error = await #expect(throws: PostgresError.self) {
      try await session.run([direct("select $1, $2", ["a", "b\0c"])])
    }
    #expect(error?.kind == .invalidParameter(statement: "", index: 1))
    await #expect(throws: PostgresError.self) { try await session.script("select 1\0;") }
  }
}
