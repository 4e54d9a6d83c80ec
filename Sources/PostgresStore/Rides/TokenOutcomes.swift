import RideCore

/// Applies the answers of APNs to the tokens concerned; settlements only record them.
package struct TokenOutcomes: Sendable {
  private let session: PostgresSession

  /// Uses an open session, which it does not close.
  package init(session: PostgresSession) {
    self.session = session
  }

  /// What was applied and what is left.
  package struct Progress: Hashable, Sendable {
    /// The number of applied outcomes.
    package var applied = 0
    /// The number of applied outcomes of channels.
    package var channels = 0
    /// The number of outcomes left, because another session has the row or table of their token
    /// locked.
    package var left = 0
    /// Why an outcome could not be applied although nothing was locked.
    package var failure: String?
  }

  /// The maximum number of outcomes that one statement applies.
  static let batch: Int64 = 500
  /// The maximum number of passes before the next kind of token has its turn.
  private static let passes = 50

  /// Applies every outcome that can be applied now.
  ///
  /// It does not wait for row locks, and waits 0.1 s for a table lock.
  ///
  /// - Throws: `PostgresError` if the database does not answer. The outcomes that are left can be
  ///   tried again.
  package func apply() async throws -> Progress {
    var progress = Progress()
    for (kind, statement) in [
      (TokenInvalidation.Kind.phone, TokenOutcomeStatements.phones),
      (.activity, TokenOutcomeStatements.activities), (.start, TokenOutcomeStatements.starts),
      (.channel, TokenOutcomeStatements.channels),
    ] {
      // A token with several outcomes gets one of them in each pass.
      var pass = Progress()
      for _ in 0..<Self.passes where !Task.isCancelled {
        pass = try await self.pass(statement, kind)
        progress.applied += pass.applied
        if kind == .channel { progress.channels += pass.applied }
        if pass.applied == 0 || pass.left == 0 { break }
      }
      progress.left += pass.left
      progress.failure = progress.failure ?? pass.failure
    }
    return progress
  }

  private func pass(_ statement: Statement, _ kind: TokenInvalidation.Kind) async throws -> Progress
  {
    var progress = Progress()
    var last = Int64.min
    var limit = Self.batch
    while !Task.isCancelled {
      do {
        let row = try await session.run([
          Call(SettleStatements.writeSettings), Call(LockLimit.short),
          Call(statement, [String(last), String(limit)]),
        ])[2]
        let applied = Int(try row.value(0, 2) as Int64)
        progress.applied += applied
        progress.left += Int(try row.value(0, 0) as Int64) - applied
        guard let end = row.int64(0, 1) else { return progress }
        last = end
        limit = min(limit * 2, Self.batch)
      } catch {
        switch error.failure.cause {
        case .unavailable: throw error
        case .conflict:
          progress.left += 1
          return progress
        case .timeout, .values, .refused:
          if limit > 1 {
            limit /= 2
            continue
          }
          // A single token must not block the others.
          progress.failure = error.description
          progress.left += 1
          guard let next = try await oldest(kind, over: last) else { return progress }
          last = next
        }
      }
    }
    return progress
  }

  private func oldest(_ kind: TokenInvalidation.Kind, over id: Int64) async throws -> Int64? {
    try await session.run([
      Call(TokenOutcomeStatements.oldest, [String(id), kind.rawValue])
    ])[0].int64(0, 0)
  }
}

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
  /// A registration since then has reset the observations against the phone, so that older ones do not
  /// count. If FCM does not know a registration that is younger than an hour, only a refusal counts:
  /// it may be valid all the same.
  static let phones = apply(
    .phone, to: "devices",
    updates: """
      gone as (
        update ridepulse.devices t set disabled_at = o.created_at, disabled_reason = o.gone_reason
        from ready o
        where t.id = any (array(select token_id from ready)) and t.id = o.token_id
          and t.disabled_at is null and t.registered_at <= o.gone_since and not \(isTooYoung)
      ), known as (
        update ridepulse.devices t set environment = coalesce(t.environment, o.environment),
          refusals = case when o.created_at < t.registered_at then t.refusals
            when o.is_good or o.environment is not null then 0
            else t.refusals + (o.is_refused or o.gone_since is not null)::int end,
          quarantined_at = case when o.created_at < t.registered_at then t.quarantined_at
            when o.is_good or o.environment is not null then null
            when t.refusals + (o.is_refused or o.gone_since is not null)::int >= \(PhoneProblem.quarantineAfter)
            then coalesce(t.quarantined_at, clock_timestamp()) end,
          probe = case when o.created_at < t.registered_at then t.probe
            when o.is_probed or o.unprobed = t.probe then null
            else coalesce(t.probe, o.probe) end,
          is_probed = t.is_probed or (o.is_probed and o.created_at >= t.registered_at),
          quiet_until = greatest(t.quiet_until, o.quiet_until)
        from ready o
        where t.id = any (array(select token_id from ready)) and t.id = o.token_id
          and (o.gone_since is null or \(isTooYoung))
      )
      """)

  /// The view current_devices has the same condition.
  private static let isTooYoung = """
    (t.platform = 'android'
            and t.registered_at between o.gone_since - interval '1 hour' and o.gone_since)
    """

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
