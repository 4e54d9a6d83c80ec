import RideCore

/// The statements that apply the answers of APNs to the tokens concerned.
///
/// Each one reads at most $2 outcomes of one kind of token with an ID above $1, and applies to each
/// token its oldest one. It waits for no row lock: an outcome that another node is applying, and
/// one of a token whose row is locked, stays for the next pass. It returns one row: how many
/// outcomes were read, the ID of the last one, and how many were applied.
enum TokenOutcomeStatements {
  /// Applies a phone's outcomes in the order of settlement, as if each settlement had written its
  /// own.
  ///
  /// A registration since then has reset the findings against the phone, so that older ones do not
  /// count.
  static let phones = apply(
    .phone, to: "devices",
    updates: """
      gone as (
        update ridepulse.devices t set disabled_at = o.created_at, disabled_reason = o.gone_reason
        from ready o
        where t.id = any (array(select token_id from ready)) and t.id = o.token_id
          and t.disabled_at is null and t.registered_at <= o.gone_since
      ), known as (
        update ridepulse.devices t set environment = coalesce(t.environment, o.environment),
          refusals = case when o.created_at < t.registered_at then t.refusals
            when o.is_good or o.environment is not null then 0
            else t.refusals + o.is_refused::int end,
          quarantined_at = case when o.created_at < t.registered_at then t.quarantined_at
            when o.is_good or o.environment is not null then null
            when t.refusals + o.is_refused::int >= \(PhoneProblem.quarantineAfter)
            then coalesce(t.quarantined_at, clock_timestamp()) end,
          probe = case when o.created_at < t.registered_at then t.probe
            when o.is_probed or o.unprobed = t.probe then null
            else coalesce(t.probe, o.probe) end,
          is_probed = t.is_probed or o.is_probed,
          quiet_until = greatest(t.quiet_until, o.quiet_until)
        from ready o
        where t.id = any (array(select token_id from ready)) and t.id = o.token_id
          and o.gone_since is null
      )
      """)

  static let activities = apply(
    .activity, to: "live_activities",
    updates: ended("live_activities", "ended", and: "t.registered_at <= o.gone_since"))
  static let starts = apply(
    .start, to: "push_to_start_tokens",
    updates: ended(
      "push_to_start_tokens", "disabled", and: "t.registered_at <= o.gone_since"))
  static let channels = apply(
    .channel, to: "channels", updates: ended("channels", "ended", and: "true"))

  /// The ID of the oldest outcome of kind $2 with an ID above $1.
  static let oldest = Statement(
    name: "outcomes_oldest",
    sql: """
      select id from ridepulse.token_outcomes where kind = $2 and id > $1::bigint
      order by id limit 1
      """)

  private static func ended(_ table: String, _ word: String, and condition: String) -> String {
    """
    gone as (
      update ridepulse.\(table) t set \(word)_at = o.created_at, \(word)_reason = o.gone_reason
      from ready o
      where t.id = any (array(select token_id from ready)) and t.id = o.token_id
        and t.\(word)_at is null and \(condition)
    )
    """
  }

  private static func apply(
    _ kind: TokenInvalidation.Kind, to table: String, updates: String
  ) -> Statement {
    Statement(
      name: "outcomes_\(kind.rawValue)",
      sql: """
        with taken as materialized (
          select * from ridepulse.token_outcomes o
          where o.kind = '\(kind.rawValue)' and o.id > $1::bigint order by o.id limit $2::bigint
          for update skip locked
        ), oldest as materialized (
          select * from taken o where not exists (
            select from ridepulse.token_outcomes e
            where e.kind = '\(kind.rawValue)' and e.token_id = o.token_id and e.id < o.id)
        ), free as materialized (
          select t.id from ridepulse.\(table) t
          where t.id = any (array(select token_id from oldest)) order by t.id
          for update skip locked
        ), ready as materialized (
          select o.* from oldest o join free on free.id = o.token_id
        ), \(updates), applied as (
          delete from ridepulse.token_outcomes o using oldest
          where o.id = any (array(select id from oldest)) and o.id = oldest.id
            and (o.token_id in (select id from free)
              or not exists (select from ridepulse.\(table) t where t.id = o.token_id))
          returning 1
        )
        select (select count(*) from taken), (select max(id) from taken),
          (select count(*) from applied)
        """)
  }
}
