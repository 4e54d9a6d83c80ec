import Foundation
import LocalStack
import PostgresStore
import TestSupport
import Testing

/// Tests of databases with attached tables that were restored from a dump, or upgraded.
@Suite("Copies of attached tables", .timeLimit(.minutes(60))) struct AttachedCopyTests {
  private static let tables = """
    create table bookings (id int primary key, status text, rider text, details json, notes text);
    create table trips (id bigint, status text, primary key (id, status)) partition by list (status);
    create table trips_open partition of trips for values in ('requested');
    create table trips_rest partition of trips default;
    create table shuttles (id int primary key, status text);
    create function public.as_ride(s shuttles) returns ridepulse.rides language sql stable as $$
      select (s.id::text, s.status, null, null, null, 'UTC', '{}', null)::ridepulse.rides $$;
    select ridepulse.watch('bookings', '{"id": "id", "state": "status", "customer_id": "rider",
      "attributes": {"details": "details"}, "where": "notes is distinct from ''gone''"}');
    select ridepulse.watch('trips', '{"id": {"column": "id", "prefix": "t-"}, "state": "status"}');
    select ridepulse.watch('shuttles', '{"ride": "public.as_ride", "id": {"prefix": "s-"}}');
    insert into bookings values (1, 'requested', 'c1');
    insert into trips values (1, 'requested');
    insert into shuttles values (1, 'requested');
    delete from ridepulse.events
    """

  private static let triggers = """
    select string_agg(pg_get_triggerdef(g.oid), E'\\n' order by g.tgrelid::regclass::text, g.tgname)
    from pg_trigger g where g.tgname like 'ridepulse\\_%'
    """

  private func attach(_ url: String) async throws -> String? {
    let migrated = try Command.ridepulse(["migrate"], ["DATABASE_URL": url])
    #expect(migrated.status == 0, "\(migrated.errors)")
    return try await run(url) { session in
      try await session.script(Self.tables)
      return try await Self.value(session, Self.triggers)
    }
  }

  private func run<Value>(
    _ url: String, _ body: (PostgresSession) async throws -> Value
  ) async throws -> Value {
    let session = try PostgresSession(conninfo: url)
    let value = try await body(session)
    await session.close()
    return value
  }

  private static func value(_ session: PostgresSession, _ sql: String) async throws -> String? {
    try await session.run([Call(Statement(name: "", sql: sql))])[0].string(0, 0)
  }

  /// Expects that a copy has the triggers of the original, and that they emit the events of updates.
  private func expectAttached(_ url: String, _ triggers: String?) async throws {
    #expect(triggers?.split(separator: "\n").isEmpty == false)
    try await run(url) { session in
      #expect(try await Self.value(session, Self.triggers) == triggers)
      try await session.script(
        """
        update bookings set status = 'driver_arrived';
        update trips set status = 'driver_arrived';
        update shuttles set status = 'driver_arrived'
        """)
      let events = try await Self.value(
        session,
        """
        select string_agg(ride_id || ' ' || event, ', ' order by id) from ridepulse.events
        where event <> 'ride_watched'
        """)
      #expect(events == "1 driver_arrived, t-1 driver_arrived, s-1 driver_arrived")
      #expect(try await Self.value(session, "select count(*) from ridepulse.watch_problems") == "0")
    }
  }

  @Test func `A1: a database that was restored from a dump copies updates`() async throws {
    let cluster = try await LocalCluster.shared()
    let url = try await cluster.freshDatabase()
    let triggers = try await attach(url)
    let copy = try await cluster.freshDatabase()
    let restored = try Command.run(
      "/bin/bash",
      [
        "-c", "set -o pipefail; pg_dump -Fc \"$1\" | pg_restore --exit-on-error -d \"$2\"", "copy",
        url, copy,
      ], ProcessInfo.processInfo.environment)
    #expect(restored.status == 0, "\(restored.errors)")
    try await expectAttached(copy, triggers)
  }

  @Test func `A1: a server with attached tables can be upgraded`() async throws {
    let cluster = try await LocalCluster()
    let triggers = try await attach(cluster.url())
    let upgraded = try Command.run(
      "/bin/bash",
      [
        "-c",
        """
        set -eu
        cd "$1"
        programs=$(dirname "$(ls /usr/lib/postgresql/*/bin/pg_upgrade | sort -V | tail -1)")
        as_owner() {
          if [ "$(id -u)" = 0 ]; then
            setpriv --reuid="$(stat -c %u data)" --regid="$(stat -c %g data)" --clear-groups -- "$@"
          else
            "$@"
          fi
        }
        {
          as_owner "$programs/pg_ctl" -D data -m fast -w stop
          as_owner "$programs/initdb" -D new -U postgres -A trust -E UTF8 --locale=C --no-sync
          as_owner "$programs/pg_upgrade" -b "$programs" -B "$programs" -d data -D new -U postgres
          mv data old
          mv new data
        } >&2
        """, "upgrade", cluster.directory,
      ], ProcessInfo.processInfo.environment)
    #expect(upgraded.status == 0, "\(upgraded.output)\(upgraded.errors)")
    if upgraded.status == 0 {
      try await cluster.start()
      try await expectAttached(cluster.url(), triggers)
    }
    await cluster.stop()
  }
}
