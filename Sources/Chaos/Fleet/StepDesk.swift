import Foundation
import PostgresStore
import RideCore

/// Commits steps, each exactly once, through every restart of the database.
///
/// Each transaction writes down which step it is and which events it made: a step whose answer was
/// lost is tried again, and is refused where it had committed.
final class StepDesk: Sendable {
  private let session: PostgresSession

  init(conninfo: String) throws {
    session = try PostgresSession(conninfo: conninfo, applicationName: "chaos")
  }

  /// The desk's own tables.
  static let schema = """
    create schema chaos;
    create table chaos.steps (
      id text primary key, ride_id text not null, events integer not null);
    create table chaos.events (event_id bigint primary key, ride_id text not null, event text);
    create table chaos.cards (token text primary key, activity_id text not null);
    """

  private static let step = Statement(
    name: "chaos_step", sql: "insert into chaos.steps (id, ride_id, events) values ($1, $2, $3)")
  private static let request = Statement(
    name: "chaos_request",
    sql: """
      insert into ridepulse.rides (id, state, customer_id, driver_id, attributes)
      values ($1, 'requested', $2, $3, jsonb_build_object('driver_name', $4::text))
      """)
  private static let state = Statement(
    name: "chaos_state", sql: "update ridepulse.rides set state = $2 where id = $1")
  private static let driver = Statement(
    name: "chaos_driver", sql: "update ridepulse.rides set driver_id = $2 where id = $1")
  private static let eta = Statement(
    name: "chaos_eta",
    sql: """
      update ridepulse.rides set attributes = attributes || jsonb_build_object('eta', $2::bigint)
      where id = $1
      """)
  private static let emit = Statement(
    name: "chaos_emit", sql: "select ridepulse.emit($2, $1, $3::jsonb)")
  private static let phone = Statement(
    name: "chaos_phone",
    sql: "select ridepulse.register_device($1, $2, $3, installation_id => $2)")
  private static let card = Statement(
    name: "chaos_card",
    sql: """
      select ridepulse.register_live_activity(
        $1, 'customer', $2, $3, $4, frequent => $5::boolean)
      """)
  private static let cardToken = Statement(
    name: "chaos_card_token", sql: "insert into chaos.cards (token, activity_id) values ($1, $2)")
  private static let startToken = Statement(
    name: "chaos_start_token",
    sql: "select ridepulse.register_push_to_start('customer', $1, $2, 'RideAttributes')")
  /// The rows that this very transaction made.
  private static let collect = Statement(
    name: "chaos_collect",
    sql: """
      insert into chaos.events (event_id, ride_id, event)
      select id, ride_id, event from ridepulse.events
      where ride_id = $1 and xmin = pg_current_xact_id()::xid
      """)

  func perform(_ steps: [Step], of ride: String) async throws {
    if steps.isEmpty { return }
    let events = steps.reduce(0) { $0 + $1.events }
    let first = Call(Self.step, [UUID().uuidString, ride, "\(events)"])
    let calls = [first] + steps.flatMap { self.calls(for: $0, of: ride) }
    try await commit(calls + [Call(Self.collect, [ride])])
  }

  private func commit(_ calls: [Call]) async throws {
    while true {
      do {
        _ = try await session.run(calls)
        return
      } catch {
        // The step is there already: it committed, and the answer was lost.
        if error.server?.constraint == "steps_pkey" { return }
        if !error.isTransient && !error.mayHaveCommitted { throw error }
        try await Task.sleep(for: .milliseconds(50))
      }
    }
  }

  /// Says something in a transaction that is given up.
  func rollBack(_ ride: String) async throws {
    do {
      try await session.script(
        "begin; select ridepulse.emit('\(ChaosRules.neverSaid)', '\(ride)'); rollback")
    } catch {
      // Whatever happened to it: it did not commit.
      if !error.isTransient && !error.mayHaveCommitted { throw error }
    }
  }

  func close() async {
    await session.close()
  }

  private func calls(for step: Step, of ride: String) -> [Call] {
    switch step {
    case .request(let customer, let driver, let name):
      [Call(Self.request, [ride, customer, driver, name])]
    case .state(let state): [Call(Self.state, [ride, state])]
    case .eta(let epoch): [Call(Self.eta, [ride, "\(epoch)"])]
    case .driver(let driver): [Call(Self.driver, [ride, driver])]
    case .emit(let event, let data): [Call(Self.emit, [ride, event, data])]
    case .phone(let app, let owner, let token): [Call(Self.phone, [app, owner, token])]
    case .card(let activity, let owner, let token, let frequent):
      [
        Call(Self.card, [ride, owner, token, activity, frequent ? "t" : "f"]),
        Call(Self.cardToken, [token, activity]),
      ]
    case .startToken(let owner, let token): [Call(Self.startToken, [owner, token])]
    }
  }
}
