import LocalStack
import TestSupport
import Testing

@testable import PostgresStore

@Suite(.timeLimit(.minutes(60))) struct SessionFaultTests {
  @Test func `a statement out of time is stopped, and the session goes on`() async throws {
    let url = try await makeDatabase()
    let session = try PostgresSession(conninfo: url, leastTimeout: .zero)
    let pid = try #require(try await session.value("select pg_backend_pid()"))
    let error = await #expect(throws: PostgresError.self) {
      // Long enough to be sent, even if the machine stalls.
      try await session.value("select pg_sleep(600)", timeout: .seconds(6))
    }
    #expect(error?.kind == .timeout(sent: true))
    #expect(error?.isTransient == true && error?.mayHaveCommitted == true)
    #expect(try await session.value("select 1") == "1")
    // PostgreSQL sends no notice that a backend has ended, so the test polls for it.
    let isThere = "select count(*) from pg_stat_activity where pid = $1::int"
    try await session.wait(until: isThere, [pid], is: "0")
  }

  @Test func `a call that waits behind a slow one fails at its own deadline`() async throws {
    let url = try await makeDatabase()
    let session = try PostgresSession(conninfo: url, leastTimeout: .zero)
    let other = try PostgresSession(conninfo: url)
    let pid = try #require(try await session.value("select pg_backend_pid()"))
    _ = try await other.value("select pg_advisory_lock(1)")
    let slow = session.begin("select 'done' from pg_advisory_lock(1)")
    try await other.wait(
      until: "select count(*) from pg_locks where pid = $1::int and not granted", [pid], is: "1")
    let error = await #expect(throws: PostgresError.self) {
      try await session.value("select 1", timeout: .milliseconds(1))
    }
    #expect(error?.kind == .timeout(sent: false))
    _ = try await other.value("select pg_advisory_unlock(1)")
    #expect(try await slow.value.get() == "done")
  }

  @Test func `a killed backend fails the run at once and is replaced`() async throws {
    let url = try await makeDatabase()
    let events = EventLog()
    let session = try PostgresSession(conninfo: url, onEvent: events.record)
    let other = try PostgresSession(conninfo: url)
    let pid = try #require(await events.nextConnection())
    let victim = session.begin("select pg_sleep(600)")
    try await other.waitUntilSleeping("\(pid)")
    _ = try await other.value("select pg_terminate_backend($1::int)", ["\(pid)"])
    let error = await victim.value.failure
    guard case .connectionLost(sent: true, let reason) = error?.kind else {
      Issue.record("got \(String(describing: error))")
      return
    }
    #expect(reason.contains("57P01"))
    #expect(await events.nextDisconnection() != nil)
    let next = await events.nextConnection()
    #expect(next != nil && next != pid)
    #expect(try await session.value("select 1") == "1")
  }

  @Test func `after a restart it connects, listens and reports it`() async throws {
    let cluster = try await LocalCluster()
    let events = EventLog()
    let session = try PostgresSession(
      conninfo: cluster.url(), listen: ["work", #"odd "name""#], onEvent: events.record)
    #expect(await events.nextConnection() != nil)
    for mode in [LocalCluster.RestartMode.fast, .immediate] {
      try await cluster.restart(mode)
      #expect(await events.nextDisconnection() != nil)
      #expect(await events.nextConnection() != nil)
      let channels = try await session.run([direct("select pg_listening_channels() order by 1")])
      #expect(channels[0].rowCount == 2)
      _ = try await session.value("select pg_notify('work', 'again')")
      let heard = await events.first { if case .notification = $0 { true } else { false } }
      #expect(heard == .notification(channel: "work", payload: "again"))
    }
    await session.close()
    await cluster.stop()
  }

  @Test func `a run waits for a server that comes back`() async throws {
    let cluster = try await LocalCluster()
    let events = EventLog()
    let session = try PostgresSession(conninfo: cluster.url(), onEvent: events.record)
    #expect(await events.nextConnection() != nil)
    await cluster.kill()
    #expect(await events.nextDisconnection() != nil)
    // Before the first attempt has failed, the reason is that of the lost connection.
    _ = await events.first { if case .unreachable = $0 { true } else { false } }
    let error = await #expect(throws: PostgresError.self) {
      try await session.value("select 1", timeout: .milliseconds(200))
    }
    guard case .unreachable(let reason, false) = error?.kind else {
      Issue.record("got \(String(describing: error))")
      return
    }
    #expect(reason.contains(cluster.directory))
    async let answer = session.value("select 1")
    try await cluster.start()
    #expect(try await answer == "1")
    await session.close()
    await cluster.stop()
  }

  @Test func `notifications of others arrive while nothing runs`() async throws {
    let url = try await makeDatabase()
    let events = EventLog()
    let session = try PostgresSession(conninfo: url, listen: ["work"], onEvent: events.record)
    #expect(await events.nextConnection() != nil)
    let other = try PostgresSession(conninfo: url)
    _ = try await other.run((1...3).map { direct("select pg_notify('work', $1)", ["\($0)"]) })
    for number in 1...3 {
      let heard = await events.first { _ in true }
      #expect(heard == .notification(channel: "work", payload: "\(number)"))
    }
    await session.close()
  }

  @Test func `closing finishes what waits and refuses what comes later`() async throws {
    let url = try await makeDatabase()
    let session = try PostgresSession(conninfo: url, leastTimeout: .zero)
    let other = try PostgresSession(conninfo: url)
    try await other.script("select pg_advisory_lock(7)")
    let last = session.begin("select 'done' from pg_advisory_lock(7)")
    try await other.wait(until: waitingForAdvisoryLock, is: "1")
    let closing = Task { await session.close(limit: patience) }
    try await wait(until: "later calls are refused") {
      do throws(PostgresError) {
        _ = try await session.value("select 1", timeout: .milliseconds(20))
        return false
      } catch {
        return error.kind == .closed
      }
    }
    try await other.script("select pg_advisory_unlock(7)")
    await closing.value
    #expect(try await last.value.get() == "done")
    await session.close()
  }

  @Test func `closing fails what is left at the limit`() async throws {
    let session = try PostgresSession(conninfo: "host=/nowhere")
    let waiting = session.begin("select 1")
    await session.close(limit: .zero)
    #expect(await waiting.value.failure?.kind == .closed)
  }

  @Test func `a session that nobody holds ends`() async throws {
    let url = try await makeDatabase()
    let other = try PostgresSession(conninfo: url)
    do {
      let session = try PostgresSession(conninfo: url, applicationName: "forgotten")
      #expect(try await session.value("show application_name") == "forgotten")
    }
    let count = "select count(*) from pg_stat_activity where application_name = 'forgotten'"
    try await other.wait(until: count, is: "0")
  }
}
