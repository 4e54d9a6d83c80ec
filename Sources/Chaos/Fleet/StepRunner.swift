import Foundation
import PostgresStore
import RideCore

/// Commits each step exactly once, through every restart of the database.
///
/// Each transaction records its step's ID and its events: a step whose answer was lost is retried,
/// and its ID is refused as a duplicate if it had committed.
final class StepRunner: Sendable {
  private let session: PostgresSession
  private let incidents: IncidentLog
  private let commits: CommitLog?

  init(conninfo: String, incidents: IncidentLog, commits: CommitLog? = nil) throws {
    self.commits = commits
    session = try PostgresSession(conninfo: conninfo, applicationName: "chaos")
    self.incidents = incidents
  }

  /// The runner's own tables, and the trigger function that refuses ledger rows.
  static let schema = """
    create schema chaos;
    create table chaos.steps (
      id text primary key, ride_id text not null, events integer not null,
      -- The transaction: its number is given out again on another timeline.
      timeline integer not null
        default ('x' || left(pg_walfile_name(pg_current_wal_insert_lsn()), 8))::bit(32)::integer,
      xid bigint not null default pg_current_xact_id()::text::bigint);
    create table chaos.events (
      event_id bigint primary key, ride_id text not null, event text, driver_id text);
    create table chaos.cards (token text primary key, activity_id text not null);
    create table chaos.gone (token text primary key, since timestamptz not null);
    create table chaos.bookings (id text primary key, state text, customer_id text);
    -- Its name sorts before the triggers of ridepulse.watch: they see the second update first.
    create function chaos.depart() returns trigger language plpgsql as $$
    begin
      update chaos.bookings set state = 'driver_en_route' where id = new.id;
      return null;
    end
    $$;
    create trigger a_depart after insert or update on chaos.bookings
    for each row when (new.state = 'driver_assigned') execute function chaos.depart();
    create function chaos.refuse() returns trigger language plpgsql as $$
    begin
      raise exception 'refused by a trigger of the app' using errcode = tg_argv[0];
    end
    $$;
    """

  private static let step = Statement(
    name: "chaos_step",
    sql: """
      insert into chaos.steps (id, ride_id, events) values ($1, $2, $3) returning timeline, xid
      """)
  private static let committed = Statement(
    name: "chaos_committed", sql: "select timeline, xid from chaos.steps where id = $1")
  private static let request = Statement(
    name: "chaos_request",
    sql: """
      insert into ridepulse.rides (id, state, customer_id, driver_id, time_zone, attributes)
      values ($1, 'requested', $2, $3, $4,
        jsonb_build_object('driver_name', $3::text, 'seats', 3))
      """)
  private static let state = Statement(
    name: "chaos_state", sql: "update ridepulse.rides set state = $2 where id = $1")
  private static let driver = Statement(
    name: "chaos_driver",
    sql: """
      update ridepulse.rides set driver_id = $2, state = coalesce($3, state),
        attributes = attributes || jsonb_build_object('driver_name', $2::text)
      where id = $1
      """)
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
    sql: "select ridepulse.register_device($1, $2, $3, installation_id => $4, locale => $5)")
  /// Apart from `phone`, whose call an earlier release has too.
  private static let androidPhone = Statement(
    name: "chaos_android_phone",
    sql: """
      select ridepulse.register_device(
        $1, $2, $3, installation_id => $4, locale => $5, platform => 'android')
      """)
  private static let signOut = Statement(
    name: "chaos_sign_out", sql: "select ridepulse.unregister_device($1, $2)")
  private static let attribute = Statement(
    name: "chaos_attribute",
    sql: """
      update ridepulse.rides set attributes = case when $3::text is null then attributes - $2
        else attributes || jsonb_build_object($2::text, $3::text) end
      where id = $1
      """)
  private static let booking = Statement(
    name: "chaos_booking",
    sql: """
      insert into chaos.bookings (id, state, customer_id) values ($1, $2, $3)
      on conflict (id) do update set state = excluded.state
      """)
  private static let phones = Statement(
    name: "chaos_phones",
    sql: """
      select count(*) from generate_series($3::integer, $4::integer) n,
        ridepulse.register_device($1, $2,
          encode(sha256(convert_to($2 || ' ' || n, 'UTF8')), 'hex'),
          installation_id => $2 || ' ' || n)
      """)
  private static let burst = Statement(
    name: "chaos_burst",
    sql: """
      select count(*) from generate_series(1, $2::integer) n,
        ridepulse.emit(case n % 2 when 0 then 'board_changed' else 'note_added' end, $1,
          jsonb_build_object('number', n))
      """)
  private static let card = Statement(
    name: "chaos_card",
    sql: """
      select ridepulse.register_live_activity(
        $1, 'customer', $2, $3, $4, frequent => $5::boolean)
      """)
  private static let cardToken = Statement(
    name: "chaos_card_token", sql: "insert into chaos.cards (token, activity_id) values ($1, $2)")
  private static let gone = Statement(
    name: "chaos_gone",
    sql: """
      insert into chaos.gone values ($1, to_timestamp($2::bigint / 1000.0)) on conflict do nothing
      """)
  private static let startToken = Statement(
    name: "chaos_start_token",
    sql: "select ridepulse.register_push_to_start('customer', $1, $2, 'RideAttributes')")
  /// Records the events that the current transaction created.
  private static let collect = Statement(
    name: "chaos_collect",
    sql: """
      insert into chaos.events (event_id, ride_id, event, driver_id)
      select e.id, e.ride_id, e.event, r.driver_id
      from ridepulse.events e left join ridepulse.rides r on r.id = e.ride_id
      where e.ride_id = $1 and e.xmin = pg_current_xact_id()::xid
      """)

  func perform(_ steps: [Step], of ride: String) async throws {
    if steps.isEmpty { return }
    let events = steps.reduce(0) { $0 + $1.events }
    let id = UUID().uuidString
    let first = Call(Self.step, [id, ride, "\(events)"])
    let calls = [first] + steps.flatMap { self.calls(for: $0, of: ride) }
    commits?.begin(id, texts: steps.compactMap(\.text), of: ride)
    let result = try await commit(calls + [Call(Self.collect, [ride])], of: id)
    guard let timeline = result.int64(0, 0), let xid = result.int64(0, 1) else { return }
    commits?.acknowledge(id, CommitLog.Transaction(timeline: Int(timeline), xid: xid))
  }

  /// Commits calls exactly once; returns the result of the first one, the step's transaction.
  private func commit(_ calls: [Call], of id: String) async throws -> QueryResult {
    var isReported = false
    var calls = calls
    while true {
      do {
        return try await session.run(calls, timeout: .seconds(60))[0]
      } catch {
        if error.mayHaveCommitted { commits?.doubt(id) }
        // The step's row exists: it committed, and the answer was lost.
        if error.server?.constraint == "steps_pkey" {
          calls = [Call(Self.committed, [id])]
          continue
        }
        let isCaused = incidents.recordViolationIfCaused(by: error, isReported: isReported)
        if !error.isTransient && !error.mayHaveCommitted && !isCaused { throw error }
        isReported = isReported || isCaused
        try await Task.sleep(for: .milliseconds(50))
      }
    }
  }

  /// Records a token that APNs reports as gone since a time in milliseconds.
  func recordGone(_ token: String, since: String) async throws {
    _ = try await commit([Call(Self.gone, [token, since])], of: token)
  }

  /// Emits an event in a transaction that is rolled back.
  func rollBack(_ ride: String) async throws {
    do {
      try await session.script(
        "begin; select ridepulse.emit('\(ChaosRules.rolledBackEvent)', '\(ride)'); rollback")
    } catch {
      // Whether or not the answer was lost, nothing was committed.
      if !error.isTransient && !error.mayHaveCommitted { throw error }
    }
  }

  func close() async {
    await session.close()
  }

  private func calls(for step: Step, of ride: String) -> [Call] {
    switch step {
    case .request(let customer, let driver, let zone):
      [Call(Self.request, [ride, customer, driver, zone])]
    case .state(let state): [Call(Self.state, [ride, state])]
    case .eta(let epoch): [Call(Self.eta, [ride, "\(epoch)"])]
    case .driver(let driver, let state): [Call(Self.driver, [ride, driver, state])]
    case .emit(let event, let data): [Call(Self.emit, [ride, event, data])]
    case .burst(let count): [Call(Self.burst, [ride, "\(count)"])]
    case .phone(let app, let owner, let token, let installation, let locale, let platform):
      [
        Call(
          platform == .ios ? Self.phone : Self.androidPhone,
          [app, owner, token, installation ?? owner, locale])
      ]
    case .signOut(let app, let token): [Call(Self.signOut, [app, token])]
    case .attribute(let name, let value): [Call(Self.attribute, [ride, name, value])]
    case .booking(let state, let customer):
      [Call(Self.booking, [String(ride.dropFirst(Booking.prefix.count)), state, customer])]
    case .phones(let app, let owner, let numbers):
      [Call(Self.phones, [app, owner, "\(numbers.lowerBound)", "\(numbers.upperBound)"])]
    case .card(let activity, let owner, let token, let frequent):
      [
        Call(Self.card, [ride, owner, token, activity, frequent ? "t" : "f"]),
        Call(Self.cardToken, [token, activity]),
      ]
    case .startToken(let owner, let token): [Call(Self.startToken, [owner, token])]
    }
  }
}
