import Base
import Orchestrator
import PostgresStore
import RideCore
import Synchronization

/// The engine's own connections to the database, open as long as it runs.
struct EngineSessions {
  let claims: PostgresSession
  let settlements: PostgresSession
  /// Nil if the engine only polls.
  let listener: WakeListener?

  var both: [PostgresSession] { [claims, settlements] }

  /// The use of each, by its purpose.
  var use: [(purpose: String, use: SessionUse)] {
    [("claims", SessionUse(of: [claims])), ("settlements", SessionUse(of: [settlements]))]
      + (listener.map { [("listen", $0.use)] } ?? [])
  }

  /// Begins to connect in the background.
  ///
  /// - Throws: `PostgresError` if the connection string can't be read; never an error of the server.
  init(
    cell: Cell, node: String, log: Log, record: SessionLog, listening: Listening,
    onEvent: @escaping @Sendable () -> Void
  ) throws(PostgresError) {
    func recording(_ name: String) -> @Sendable (SessionEvent) -> Void {
      { event in
        record.record(event, of: name)
        onEvent()
      }
    }
    claims = try PostgresSession(
      conninfo: cell.conninfo, schema: cell.schema, applicationName: "ridepulse claims",
      onEvent: recording("claims"))
    settlements = try PostgresSession(
      conninfo: cell.conninfo, schema: cell.schema, applicationName: "ridepulse settlements")
    listener =
      listening == .off
      ? nil
      : try WakeListener(
        conninfo: listening.address ?? cell.conninfo, schema: cell.schema, node: node, log: log,
        onEvent: recording("listen"))
  }
}

/// Logs the events of the engine's connections, each reason of a failure once.
final class SessionLog: Sendable {
  private struct State {
    /// `ServiceStart` logs what it waits for.
    var isStarting: Bool
    /// The last reason logged for each session without a connection.
    var reasons: [String: String] = [:]
  }

  private let log: Log
  private let state: Mutex<State>

  init(_ log: Log, isStarting: Bool = true) {
    self.log = log
    state = Mutex(State(isStarting: isStarting))
  }

  /// Logs failures from now on.
  func started() { state.withLock { $0.isStarting = false } }

  func record(_ event: SessionEvent, of session: String) {
    switch event {
    case .connected(let version, _):
      state.withLock { $0.reasons[session] = nil }
      log(.info, .databaseConnected, ["session": session, "server_version": version])
    case .disconnected(let reason):
      log(.warning, .databaseConnectionLost, ["session": session, "reason": reason])
    case .unreachable(let reason):
      let isNew = state.withLock { state in
        !state.isStarting && state.reasons.updateValue(reason, forKey: session) != reason
      }
      if isNew {
        log(.warning, .databaseUnreachable, ["session": session, "reason": reason])
      }
    case .notification:
      log(.debug, .woken)
    }
  }
}

/// Reaches an engine that is created later.
final class EngineSignal: Sendable {
  private let engine = Mutex<Engine?>(nil)

  func connect(to engine: Engine) {
    self.engine.withLock { $0 = engine }
  }

  func notify() {
    engine.withLock { $0 }?.wake()
  }

  func use(_ pauses: Pauses) {
    engine.withLock { $0 }?.use(pauses)
  }

  func connectionsChanged() {
    engine.withLock { $0 }?.connectionsChanged()
  }
}
