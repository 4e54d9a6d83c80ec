import Foundation
import LocalStack
import PostgresStore
import Testing
import TestSupport

/// Tests of a NOTIFY queue that another program's listener keeps from being emptied.
@Suite("A full NOTIFY queue", .timeLimit(.minutes(60))) struct NotifyQueueTests {
  /// Opens a listener in a transaction, in another database of the server, and notifies 100 MB.
  private func fill(_ cluster: LocalCluster) async throws -> Task<Void, any Error> {
    let listener = try PostgresSession(
      conninfo: cluster.url(database: "postgres"), applicationName: "a careless listener")
    try await listener.script("listen news")
    let transaction = Task {
      try await listener.script("begin; select pg_sleep(600)", timeout: .seconds(600))
    }
    let isOpen = Statement(
      name: "",
      sql: """
        select count(*) from pg_stat_activity
        where application_name = 'a careless listener' and query ~ 'pg_sleep'
        """)
    let sender = try PostgresSession(conninfo: cluster.url(database: "postgres"))
    try await wait(until: "the listener sleeps") {
      try await sender.run([Call(isOpen)])[0].int64(0, 0) != 0
    }
    for part in 1...13 {
      try await sender.script(
        """
        select count(pg_notify('news', repeat('x', 7990) || \(part) || ' ' || n))
        from generate_series(1, 1000) n
        """, timeout: .seconds(60))
    }
    let usage = try await sender.run([
      Call(Statement(name: "", sql: "select pg_notification_queue_usage() > 0.01"))
    ])
    #expect(usage[0].bool(0, 0) == true)
    await sender.close()
    return transaction
  }

  @Test func `While it fills no session notifies, nodes poll, and its holder is named`()
    async throws
  {
    let cluster = try await LocalCluster(durability: .fast)
    try await Stage.run(cluster: cluster) { stage in
      try await stage.addRide()
      let server = try Server(stage.environment)
      let asleep = "select bool_or(asleep) from ridepulse.nodes"
      try await stage.until(asleep, is: "t")
      let listener = try await fill(cluster)
      // A node whose row reports that it sleeps, so that producers would notify it.
      try await stage.sql(
        """
        insert into ridepulse.nodes
        values (gen_random_uuid(), 'other', true, now() + interval '1 hour', 7)
        """)
      let (received, handle) = AsyncStream.makeStream(of: String.self)
      let witness = try PostgresSession(
        conninfo: stage.conninfo, listen: ["ridepulse_wake", "end"]
      ) {
        if case .notification(let channel, _) = $0 { handle.yield(channel) }
      }
      _ = try await witness.run([Call(Statement(name: "", sql: "select 1"))])
      try await stage.sql("select ridepulse.emit('driver_nearby', 'r1')")
      try await stage.sql("select pg_notify('end', '')")
      #expect(await received.first { _ in true } == "end", "an app's commit notified a full queue")
      try await stage.settled()
      #expect(try stage.arrivals().count == 1)
      try await server.waitForLog("NOTIFY queue is filling up")
      #expect(server.log.contains("a careless listener"), "\(server.log)")
      try await stage.sql("delete from ridepulse.nodes where host = 'other'")
      try await stage.until(asleep, is: "f")
      let checkup = try Checkup(stage.environment)
      checkup.expect("notify queue", "warning", "(a careless listener, database postgres)")
      checkup.expect("notify queue", "warning", "select pg_terminate_backend(")
      checkup.expect("listen", "warning", "notify queue")
      try await stage.sql(
        """
        select pg_terminate_backend(pid) from pg_stat_activity
        where application_name = 'a careless listener'
        """)
      _ = try? await listener.value
      try await server.waitForLog("LISTEN works again")
      try await stage.until(asleep, is: "t")
      try Checkup(stage.environment).expect("notify queue", "ok", "0.0 % full")
      #expect(server.stop() == 0)
      #expect(server.log.components(separatedBy: "NOTIFY queue is filling up").count == 2)
      #expect(!server.log.contains("Claim failed"), "\(server.log)")
      await witness.close()
    }
    await cluster.stop()
  }
}
