import Base
package import RideCore
import Synchronization

/// The store of the legacy gateway: events, phones and frames in PostgreSQL.
package final class PostgresLegacyPushStore: LegacyPushStore {
  private let app: App
  private let environment: APNsEnvironment?
  private let session: PostgresSession
  private let swept = Mutex(ContinuousClock.now)

  /// Uses an open session, which it does not close.
  ///
  /// - Parameter environment: the environment of phones that a frame introduces.
  package init(app: App, environment: APNsEnvironment?, session: PostgresSession) {
    self.app = app
    self.environment = environment
    self.session = session
  }

  /// Commits the frames of senders in one transaction.
  ///
  /// - Throws: `PostgresError`. The same frames may be given again: those already committed are
  ///   repeats.
  package func take(_ frames: [LegacyFrame]) async throws -> [LegacyCommitResult] {
    let pushes = frames.map(\.push)
    let results = try await session.run([
      Call(SettleStatements.plannerSettings),
      Call(
        LegacyStatements.take,
        [
          app.rawValue, environment?.rawValue,
          PostgresArray.literal(frames.map { String($0.sender) }),
          PostgresArray.literal(pushes.map(\.token.hex)),
          PostgresArray.literal(frames.map(\.id.description)),
          PostgresArray.literal(pushes.map(\.raw.eventData)),
        ]),
    ])
    await sweep()
    return (0..<frames.count).map { Self.taking(results[1], $0) }
  }

  private static func taking(_ rows: QueryResult, _ row: Int) -> LegacyCommitResult {
    guard rows.string(row, 0) != "refused" else { return .refused }
    guard let ride = rows.string(row, 1), let id = rows.string(row, 2).flatMap(PushID.init) else {
      return .leftOut
    }
    return .taken(LegacyReceipt(ride: RideID(ride), id: id, isRepeat: rows.bool(row, 3) ?? false))
  }

  /// Runs once a minute; if it fails, the next run deletes more.
  private func sweep() async {
    let isDue = swept.withLock { swept in
      let now = ContinuousClock.now
      guard now - swept > .seconds(60) else { return false }
      swept = now
      return true
    }
    if isDue { _ = try? await session.run([Call(LegacyStatements.sweep)]) }
  }

  /// Returns the outcomes of pushes so far; those without a verdict are left out.
  package func verdicts(on pushes: [LegacyReceipt]) async throws -> [PushID: LegacyVerdict] {
    let rows = try await session.run([
      Call(ClaimStatements.lookups),
      Call(
        LegacyStatements.verdicts,
        [
          PostgresArray.literal(pushes.map(\.ride)),
          PostgresArray.literal(pushes.map(\.id.description)),
        ]),
    ])[1]
    var verdicts: [PushID: LegacyVerdict] = [:]
    for row in 0..<rows.rowCount {
      guard let id = rows.string(row, 0).flatMap(PushID.init) else { continue }
      verdicts[id] = LegacyVerdict(
        status: try rows.value(row, 1),
        code: rows.string(row, 2).map { LedgerReason.Code(word: $0) })
    }
    return verdicts
  }

  /// Returns at most `limit` phones of an app that were disabled and not reported yet.
  package func disabled(of app: App, limit: Int) async throws -> [DisabledPhone] {
    let rows = try await session.run([
      Call(LegacyStatements.disabled, [app.rawValue, String(limit)])
    ])[0]
    return (0..<rows.rowCount).compactMap { row in
      guard let id = rows.int64(row, 0), let since = rows.int64(row, 2),
        let token = rows.string(row, 1).flatMap({ DeviceToken($0) })
      else { return nil }
      return DisabledPhone(phone: id, token: token, since: Timestamp(microseconds: since))
    }
  }

  /// Stops reporting these phones until they are disabled again.
  package func forget(_ phones: [DisabledPhone]) async throws {
    // A session that has a phone locked must not delay senders' commits over the same session as
    // this.
    _ = try await session.run([
      Call(LockLimit.short),
      Call(
        LegacyStatements.forget,
        [
          PostgresArray.literal(phones.map { String($0.phone) }),
          PostgresArray.literal(phones.map { String($0.since.microseconds) }),
        ]),
    ])
  }
}

/// The statements behind `ridepulse legacy-gateway`.
enum LegacyStatements {
  /// How long after its first arrival a repeated frame counts as the same push.
  private static let repeatWindow = "interval '10 minutes'"

  /// Commits pushes. $1 app, $2 environment of new phones; for each push $3 its sender, $4 token,
  /// $5 frame, $6 data.
  ///
  /// It returns one row for each push, in order: whether it is taken, refused or left out, its
  /// ride, its push ID, and whether it is a repeat. Rows are written in the order of their keys, so
  /// that two gateways cannot deadlock. A new phone gets a registration time before all others:
  /// this is no registration, and must not outweigh what APNs reports about the token.
  static let take = Statement(
    name: "legacy_take",
    sql: """
      with known as materialized (
        select token, disabled_at is not null or quarantined_at is not null as is_bad
        from ridepulse.devices where app = $1 and token = any ($4::text[])
      ), given as materialized (
        select g.*, ridepulse.legacy_ride($1, g.token) as ride_id, known.token is null as is_new,
          coalesce(known.is_bad, false) as is_bad
        from unnest($3::int[], $4::text[], $5::uuid[], $6::text[]) with ordinality
          as g (sender, token, frame, data, place)
        left join known on known.token = g.token
      ), checked as materialized (
        select *, min(place) filter (where is_bad) over (partition by sender) as bad_place from given
      ), taken as materialized (
        select * from checked where place < coalesce(bad_place, place + 1)
      ), phones as (
        insert into ridepulse.devices (app, owner_id, token, environment, registered_at)
        select $1, ride_id, token, $2, '-infinity' from taken where is_new
        group by token, ride_id order by token
        on conflict do nothing
      ), recorded as (
        insert into ridepulse.legacy_frames as f (frame, apns_id)
        select distinct frame, frame from taken order by frame
        on conflict (frame) do update set apns_id = gen_random_uuid(), taken_at = excluded.taken_at
          where f.taken_at < excluded.taken_at - \(repeatWindow)
        returning frame, apns_id
      ), pushes as materialized (
        select t.*, coalesce(n.apns_id, f.apns_id, gen_random_uuid()) as apns_id,
          n.frame is null or t.place > min(t.place) over (partition by t.frame) as is_repeat
        from taken t left join recorded n on n.frame = t.frame
        left join ridepulse.legacy_frames f on f.frame = t.frame
      ), emitted as (
        insert into ridepulse.events (ride_id, event, data)
        select ride_id, 'legacy_push', data::jsonb || jsonb_build_object('apns_id', apns_id)
        from pushes where not is_repeat order by place
      )
      select case when p.place is not null then 'taken' when j.place = j.bad_place then 'refused'
          else 'left out' end, j.ride_id, p.apns_id, p.is_repeat
      from checked j left join pushes p on p.place = j.place
      order by j.place
      """)

  /// The verdicts in the ledger, for each $1 ride and $2 apns-id.
  ///
  /// Only the last hour is searched: all these pushes are that recent, and the ledger may have many
  /// days.
  static let verdicts = Statement(
    name: "legacy_verdicts",
    sql: """
      select l.apns_id, l.status, l.reason_code
      from unnest($1::text[], $2::uuid[]) as w (ride_id, apns_id)
      join ridepulse.ledger l on l.ride_id = w.ride_id and l.apns_id = w.apns_id
      where l.occurred_at > now() - interval '1 hour' and l.status <> 'pending'
      """)

  /// Phones that APNs reported as gone and that are not reported to a sender yet: $1 app, $2 limit.
  static let disabled = Statement(
    name: "legacy_disabled",
    sql: """
      select id, token, \(SQLTime.micros("disabled_at"))
      from ridepulse.devices
      where app = $1 and disabled_reason in ('Unregistered', 'ExpiredToken')
        and reported_disabled_at is distinct from disabled_at and token ~ '^[0-9a-f]{64}$'
      order by id limit $2::bigint
      """)

  /// Records that phones were reported: for each, $1 ID and $2 its end in microseconds.
  static let forget = Statement(
    name: "legacy_forget",
    sql: """
      update ridepulse.devices d set reported_disabled_at = d.disabled_at
      from unnest($1::bigint[], $2::bigint[]) as t (id, since)
      where d.id = any ($1::bigint[]) and d.id = t.id
        and \(SQLTime.micros("d.disabled_at")) = t.since
      """)

  /// Deletes frames that are too old to identify repeats.
  static let sweep = Statement(
    name: "legacy_sweep",
    sql: "delete from ridepulse.legacy_frames where taken_at < now() - \(repeatWindow)")
}
