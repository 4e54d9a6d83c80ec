/// The statements that see whether rules that speak by the clock have changed.
enum TimingStatements {
  /// Under which rules live rides were last made due.
  static let known = Statement(name: "timing_known", sql: "select rules from ridepulse.timing")

  /// Makes live rides due, some thousand at a time: $1 the last ride of the page before, $2 the
  /// active states. One row: the last ride of this page, null at the end, and how many were live.
  static let adopt = Statement(
    name: "timing_adopt",
    sql: """
      with page as materialized (
        select id, state from ridepulse.rides where id > $1 order by id limit 5000
      ), adopted as (
        insert into ridepulse.agenda as a (ride_id, due_at, fence, leased_until)
        select id, now(), 0, '-infinity' from page where state = any ($2::text[]) order by id
        on conflict (ride_id) do update set due_at = least(a.due_at, excluded.due_at)
        returning 1
      )
      select (select max(id) from page), (select count(*) from adopted)
      """)

  /// $1 the rules that live rides are due under.
  static let remember = Statement(
    name: "timing_remember",
    sql: """
      insert into ridepulse.timing (rules) values ($1)
      on conflict (is_only) do update set rules = excluded.rules, adopted_at = now()
      """)
}
