import Base
import Foundation
import PostgresStore
import PushClient
import RideCore

/// Probes Postgres; leaves nothing there except one notification to itself.
struct DatabaseProbe {
  let environment: [String: String]
  /// The apps of the rules.
  let apps: Set<App>
  /// The Firebase project of each app whose service account can be read.
  let projects: [App: String]

  /// The limit for one query to a server that has answered before.
  private static let patience: Duration = .seconds(5)

  func probes() async -> DatabaseState {
    var probes = DatabaseState()
    do throws(CommandFailure) { probes.listening = try Listening(environment) } catch {
      probes.listeningProblem = error.description
    }
    guard let (conninfo, session) = await connect(&probes) else { return probes }
    await examine(session, conninfo, &probes)
    // The process ends soon, and a server that stopped responding must not delay it.
    Task { await session.close() }
    return probes
  }

  /// Probes only what shows whether a service sends.
  func livingProbes() async -> DatabaseState {
    var probes = DatabaseState()
    guard let (_, session) = await connect(&probes) else { return probes }
    if let server = probes.server.value, !server.isTooOld, server.holdsUnicode {
      probes.schema = await ask { try await Self.schema(session) }
      if server.hasSchema {
        probes.rights = await ask { try await RightsReport.read(session) }
        if probes.permitsReading {
          let namesApps = !projects.isEmpty || !APNsVariables.bundleIDs(environment).isEmpty
          // Without apps it is no service's environment: its site says nothing.
          probes.pin =
            namesApps
            ? await pin(session) : await ask { try await DatabasePin.none.problems(session) }
          await examineService(session, &probes)
        }
      }
    }
    Task { await session.close() }
    return probes
  }

  /// Connects, and reads what the server is.
  private func connect(
    _ probes: inout DatabaseState
  ) async -> (conninfo: String, session: PostgresSession)? {
    let names = [
      "DATABASE_URL", "DATABASE_URL_FILE", "PGHOST", "PGHOSTADDR", "PGSERVICE", "PGDATABASE",
    ]
    probes.isConfigured = names.contains { !(environment[$0] ?? "").isEmpty }
    let conninfo: String
    do throws(CommandFailure) { conninfo = try Database.conninfo(environment) } catch {
      probes.server = .failed(error.description)
      return nil
    }
    let opened = await Probe.find(within: .seconds(8)) { try await Self.open(conninfo) }
    guard case .known(let session) = opened else {
      if case .failed(let why) = opened { probes.server = .failed(why) }
      return nil
    }
    probes.server = await ask { try await ServerState.read(session) }
    return (conninfo, session)
  }

  private func examineService(
    _ session: PostgresSession, _ probes: inout DatabaseState
  ) async {
    probes.living = await ask { try await LivingState.read(session) }
    probes.locks = await ask { try await TableLocks.all(session) }
    if probes.rights.value?.role == .engine {
      probes.trial = await ask { await TrialSettlement.failure(session) }
    }
  }

  private func examine(
    _ session: PostgresSession, _ conninfo: String, _ probes: inout DatabaseState
  ) async {
    if let server = probes.server.value, !server.isTooOld {
      probes.lead = await ask { try await Self.lead(session) }
      probes.holder = await ask { try await BlockingBackend.oldest(session) }
      probes.deadRows = await ask { try await DeadRows.most(session) }
      probes.replication = await ask { try await ReplicationState.read(session) }
      probes.mayReachStandby = PostgresSession.mayReachStandby(conninfo)
      probes.queue = await ask { try await NotifyQueue.read(session) }
      if server.holdsUnicode { probes.schema = await ask { try await Self.schema(session) } }
      if server.hasSchema {
        probes.rights = await ask { try await RightsReport.read(session) }
        // Without rights these queries would only return another permission error.
        if probes.rights.value?.missing.allSatisfy(\.isMinor) ?? false {
          probes.phones = await ask { try await PhoneCount.all(session) }
          if probes.schema.value?.holdsAll ?? false {
            probes.watched = await ask { try await WatchedTables.read(session) }
            probes.pin = await pin(session)
            probes.androidPhones = await ask { try await AndroidPhoneCount.all(session) }
            await examineService(session, &probes)
            probes.outcomes = await ask { try await TokenBacklog.read(session) }
            probes.words = await ask { try await UndeclaredWord.all(session) }
            probes.attributes = await ask { try await LiveAttributes.all(session) }
            probes.cardTypes = await ask { try await SentCardType.all(session) }
            probes.startTokens = await ask { try await StartTokenCount.all(session) }
            probes.appVersions = await ask { try await AppVersionCount.all(session) }
            let apps = apps
            probes.reports = await ask { try await AppReports.all(of: apps, session) }
          }
        }
      }
      if probes.listening != .off, probes.listeningProblem == nil {
        let address = probes.listening.address
        probes.listen = await Probe.find(within: .seconds(address == nil ? 8 : 14)) {
          try await ListenProbe.run(
            conninfo: conninfo, address: address, session: session,
            node: UUID().uuidString.lowercased())
        }
      }
    }
  }

  private func pin(_ session: PostgresSession) async -> Probe<[PinProblem]> {
    guard let standard = try? APNsVariables.defaultEnvironment(environment) else { return .unasked }
    let site: String?
    do throws(CommandFailure) { site = try APNsVariables.site(environment) } catch {
      return .failed(error.description)
    }
    let pin = APNsVariables.pin(
      APNsVariables.bundleIDs(environment), standard, projects: projects, site: site)
    return await ask { try await pin.problems(session) }
  }

  private func ask<Value: Sendable>(
    _ question: @escaping @Sendable () async throws -> Value
  ) async -> Probe<Value> {
    await Probe.find(within: Self.patience, question)
  }

  /// Opens a session, and throws the error of the first attempt, after which a session would go on
  /// trying.
  private static func open(_ conninfo: String) async throws -> PostgresSession {
    let session = try PostgresSession(
      conninfo: conninfo, schema: Cell.current?.schema, applicationName: "ridepulse doctor")
    try await session.connect()
    return session
  }

  private static func schema(_ session: PostgresSession) async throws -> DatabaseState.Schema {
    do throws(MigrationError) {
      let state = try await Migrations.state(session)
      if !state.missing.isEmpty { return .lacks(state.missing) }
      return state.newer.isEmpty ? .current : .newer(state.newer)
    } catch {
      switch error {
      case .edited, .unknown: return .foreign("\(error)")
      case .serverTooOld, .wrongEncoding, .failed, .locked, .database: throw error
      }
    }
  }

  private static func lead(_ session: PostgresSession) async throws -> Duration {
    let before = MachineTime.now
    let theirs = try await ChannelRepository(session: session).now()
    // The server read its clock at some time between request and response.
    return theirs - (before + (MachineTime.now - before) / 2)
  }
}

/// The local wall clock.
enum MachineTime {
  static var now: Timestamp { Timestamp(microseconds: Int64(Date().timeIntervalSince1970 * 1e6)) }
}

struct DatabaseState: Sendable {
  /// The state of the schema compared with the migrations of this program.
  enum Schema: Hashable, Sendable {
    case current
    case lacks([String])
    /// A newer program applied these steps.
    case newer([String])
    /// The schema belongs to another version of the program; the text describes what to do.
    case foreign(String)

    /// Whether the schema has everything that this program reads.
    var holdsAll: Bool {
      switch self {
      case .current, .newer: true
      case .lacks, .foreign: false
      }
    }
  }

  /// Whether the environment configures the server, if only by libpq's own variables.
  var isConfigured = true
  var server: Probe<ServerState> = .unasked
  var schema: Probe<Schema> = .unasked
  var rights: Probe<RightsReport> = .unasked
  /// Whether the tables can be read; otherwise each query would return only the same error.
  var permitsReading: Bool {
    (rights.value?.missing.allSatisfy(\.isMinor) ?? false) && schema.value?.holdsAll ?? false
  }
  var listening: Listening = .on
  /// Why `RIDEPULSE_LISTEN` can't be used.
  var listeningProblem: String?
  var listen: Probe<ListenProbe.Outcome> = .unasked
  var queue: Probe<NotifyQueue> = .unasked
  /// The number of attached tables, and their problems.
  var watched: Probe<WatchedTables> = .unasked
  /// How far the database's clock is ahead of the local one.
  var lead: Probe<Duration> = .unasked
  var holder: Probe<BlockingBackend?> = .unasked
  var deadRows: Probe<DeadRows?> = .unasked
  /// Why the pin keeps a service with these variables from sending.
  var pin: Probe<[PinProblem]> = .unasked
  var replication: Probe<ReplicationState> = .unasked
  /// Whether the connection string allows a session with a standby although it names a primary.
  var mayReachStandby = false
  var phones: Probe<[PhoneCount]> = .unasked
  var androidPhones: Probe<[AndroidPhoneCount]> = .unasked
  var living: Probe<LivingState> = .unasked
  /// The sessions that hold up others.
  var locks: Probe<[LockHolder]> = .unasked
  /// Why a settlement that is rolled back fails; nil if it works.
  var trial: Probe<String?> = .unasked
  var outcomes: Probe<TokenBacklog> = .unasked
  /// The states and events of the last day that no rule file declared.
  var words: Probe<[UndeclaredWord]> = .unasked
  /// The attributes of the live rides that changed last.
  var attributes: Probe<[LiveAttributes]> = .unasked
  /// The JSON types that cards were sent in the last day.
  var cardTypes: Probe<[SentCardType]> = .unasked
  var startTokens: Probe<[StartTokenCount]> = .unasked
  /// The enabled phones by the version of their app.
  var appVersions: Probe<[AppVersionCount]> = .unasked
  /// What the phones of the rules' apps have ever reported.
  var reports: Probe<[AppReports]> = .unasked
}
