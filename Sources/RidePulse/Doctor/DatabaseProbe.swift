import Foundation
import PostgresStore
import RideCore

/// Looks at Postgres; writes nothing but one notification to itself.
struct DatabaseProbe {
  let environment: [String: String]

  /// For one question to a server that answered before.
  private static let patience: Duration = .seconds(5)

  func facts() async -> DatabaseFacts {
    var facts = DatabaseFacts()
    let names = ["DATABASE_URL", "PGHOST", "PGHOSTADDR", "PGSERVICE", "PGDATABASE"]
    facts.isConfigured = names.contains { !(environment[$0] ?? "").isEmpty }
    let conninfo = Database.conninfo(environment)
    let opened = await Fact.find(within: .seconds(8)) { try await Self.open(conninfo) }
    guard case .known(let session) = opened else {
      if case .failed(let why) = opened { facts.server = .failed(why) }
      return facts
    }
    facts.server = await ask { try await ServerFacts.read(session) }
    facts.listens = (try? Database.listens(environment)) ?? true
    if let server = facts.server.value, !server.isTooOld {
      facts.lead = await ask { try await Self.lead(session) }
      facts.holder = await ask { try await RowHolder.oldest(session) }
      facts.queue = await ask { try await NotifyQueue.read(session) }
      if server.holdsUnicode { facts.schema = await ask { try await Self.schema(session) } }
      if server.hasSchema {
        facts.rights = await ask { try await MissingRight.all(session) }
        // Without rights the answer is an error that says no more.
        if facts.rights.value?.allSatisfy(\.isMinor) ?? false {
          facts.phones = await ask { try await PhoneCount.all(session) }
          if facts.schema.value == .current {
            facts.watched = await ask { try await WatchedTables.read(session) }
            facts.outcomes = await ask { try await TokenBacklog.read(session) }
          }
        }
      }
      if facts.listens {
        facts.listen = await Fact.find(within: .seconds(8)) {
          try await ListenProbe.run(
            conninfo: conninfo, session: session, node: UUID().uuidString.lowercased())
        }
      }
    }
    // The process ends soon, and a server that went silent must not hold it up.
    Task { await session.close() }
    return facts
  }

  private func ask<Value: Sendable>(
    _ question: @escaping @Sendable () async throws -> Value
  ) async -> Fact<Value> {
    await Fact.find(within: Self.patience, question)
  }

  /// A session with a connection. A session would go on trying; the first attempt's trouble is told.
  private static func open(_ conninfo: String) async throws -> PostgresSession {
    let (events, feed) = AsyncStream.makeStream(of: SessionEvent.self)
    let session = try PostgresSession(
      conninfo: conninfo, applicationName: "ridepulse doctor", onEvent: { feed.yield($0) })
    for await event in events {
      switch event {
      case .connected: return session
      case .unreachable(let reason), .disconnected(let reason):
        throw PostgresError(.unreachable(reason: reason))
      case .notification: continue
      }
    }
    throw PostgresError(.closed)
  }

  private static func schema(_ session: PostgresSession) async throws -> DatabaseFacts.Schema {
    do throws(MigrationError) {
      let pending = try await Migrations.apply(session: session, dryRun: true)
        .filter { $0.outcome == .pending }
      return pending.isEmpty ? .current : .lacks(pending.map(\.migration.name))
    } catch {
      switch error {
      case .edited, .unknown: return .foreign("\(error)")
      case .serverTooOld, .wrongEncoding, .failed, .database: throw error
      }
    }
  }

  private static func lead(_ session: PostgresSession) async throws -> Duration {
    let before = MachineTime.now
    let theirs = try await ChannelDesk(session: session).now()
    // It was read somewhere between question and answer.
    return theirs - (before + (MachineTime.now - before) / 2)
  }
}

/// This machine's own clock.
enum MachineTime {
  static var now: Instant { Instant(microseconds: Int64(Date().timeIntervalSince1970 * 1e6)) }
}
