/// The statements that detect changed schedule rules and reschedule live rides.
enum TimingStatements {
  /// The rules that live rides were last made due for.
  static let known = Statement(name: "timing_known", sql: "select rules from ridepulse.timing")

  /// Makes one page of live rides due: $1 last ride of the previous page, $2 active states, $3
  /// limit.
  ///
  /// The first row holds the last ride of this page, null at the end, and how many rides were made
  /// due. Further rows are rides that other sessions have locked.
  static let adopt = adopt(
    "timing_adopt",
    "select id, state from ridepulse.rides where id > $1 order by id limit $3::bigint")

  /// The same for the rides $1.
  static let adoptRides = adopt(
    "timing_adopt_rides", "select id, state from ridepulse.rides where id = any ($1::text[])")

  private static func adopt(_ name: String, _ page: String) -> Statement {
    Statement(
      name: name,
      sql: """
        with page as materialized (
          \(page)
        ), live as materialized (
          select id from page where state = any ($2::text[])
        ), free as materialized (
          select a.ride_id from ridepulse.agenda a
          where a.ride_id = any (array(select id from live)) order by a.ride_id
          for update skip locked
        ), moved as (
          update ridepulse.agenda a set due_at = least(a.due_at, now())
          from free where a.ride_id = free.ride_id
          returning a.ride_id
        ), opened as (
          insert into ridepulse.agenda (ride_id, due_at, fence, leased_until)
          select id, now(), 0, '-infinity' from live l
          where not exists (select from ridepulse.agenda a where a.ride_id = l.id) order by id
          on conflict do nothing
          returning ride_id
        )
        select (select max(id) from page),
          (select count(*) from moved) + (select count(*) from opened), null
        union all
        select null, null, id from live
        where id not in (select ride_id from moved) and id not in (select ride_id from opened)
        """)
  }

  /// $1 the rules that live rides were made due for.
  static let remember = Statement(
    name: "timing_remember",
    sql: """
      insert into ridepulse.timing (rules) values ($1)
      on conflict (is_only) do update set rules = excluded.rules, adopted_at = now()
      """)
}
