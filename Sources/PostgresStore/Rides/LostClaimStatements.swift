internal import RideCore

/// The statements that claim rides whose last claim did not survive.
///
/// Such a ride may have ended the node that held it, and may end the next one. It is therefore
/// decided apart: first together with a few others of its kind, under a lease so short that these
/// wait only seconds if one of them ends the node, then alone, and then not any more.
enum LostClaimStatements {
  /// The number of rides that are claimed together.
  static let batch = 30
  /// The lease of several rides until they are decided.
  static let shortLease: Duration = .seconds(3)
  /// The number of lost claims in a row after which a ride is parked, if the last one and one before
  /// it were lost while the ride was decided: one such end may be chance.
  static let limitWhileDeciding = 3
  /// The same, if it was lost at another time: nodes end for other reasons, too.
  static let limit = 10

  /// An expression that is true if `claim` or `park` has something to do.
  static let exist = """
    exists (select from ridepulse.lost_claims l
            where l.is_waiting or not exists (select from ridepulse.agenda a
              where a.ride_id = l.ride_id and a.fence = l.fence and a.node is not null
                and a.leased_until > now() offset 0))
    """

  /// Removes rides that were settled or parked since they were counted.
  static let removeVoid = Statement(
    name: "lost_void",
    sql: """
      delete from ridepulse.lost_claims l
      where not exists (select from ridepulse.agenda a
        where a.ride_id = l.ride_id and a.fence = l.fence and a.node is not null
          and a.parked_reason is null offset 0)
      """)

  /// Locks the rides that wait.
  private static let waiting = """
    select l.ride_id, a.ctid as place, l.is_deciding, l.lost_at, l.held_until,
            -- A release is no end of a node.
            l.is_waiting or a.leased_until > '-infinity' as is_lost,
            l.claims + (not l.is_waiting and a.leased_until > '-infinity')::integer as claims,
            l.decisions + (l.is_deciding and (l.is_waiting or a.leased_until > '-infinity'))::integer
              as decisions
          from ridepulse.lost_claims l
          join ridepulse.agenda a on a.ride_id = l.ride_id and a.fence = l.fence
          where l.is_waiting or a.leased_until <= now()
          order by claims desc, l.lost_at, l.ride_id
          for update of a skip locked
    """

  /// Parks rides that end their node again and again: $1 to $5 the parameters of `DatabasePin`.
  ///
  /// It returns each ride and its reason. The node stays in the row, as `LeaseStatements.park`
  /// leaves it.
  static let park = Statement(
    name: "lost_park",
    sql: """
      with here as materialized (
        select * from ridepulse.claim_place(\(DatabasePin.arguments(from: 1)))
      ), waiting as materialized (
        \(waiting)
      )
      update ridepulse.agenda a set fence = a.fence + 1, leased_until = 'infinity',
        parked_at = now(), parked_reason = format('%s claims in a row ended with their node',
            waiting.claims)
          || case when waiting.is_deciding then ', the last while this ride alone was decided'
            else '' end
          || '; the log or core dump of that node shows where'
      from waiting
      where a.ctid = waiting.place and waiting.is_lost and (select may_claim from here)
        and waiting.claims >= case when waiting.is_deciding and waiting.decisions > 1
          then \(limitWhileDeciding) else \(limit) end
      returning a.ride_id, a.parked_reason
      """)

  /// Claims rides of lost claims: several that lost one claim, or one that lost more.
  ///
  /// $1 lease, $2 short lease in milliseconds, $3 limit, $4 holder, $5 to $9 the parameters of
  /// `DatabasePin`. It returns `ClaimColumns`.
  static let claim = Statement(
    name: "lost_claim",
    sql: """
      with here as materialized (
        select * from ridepulse.claim_place(\(DatabasePin.arguments(from: 5)))
      ), waiting as materialized (
        \(waiting)
      ), chosen as materialized (
        select * from waiting w
        where (select may_claim from here)
          and w.claims = (select min(claims) from waiting)
        order by w.lost_at, w.ride_id
        limit case when (select min(claims) from waiting) > 1 then 1 else $3::bigint end
      ), renewed as (
        update ridepulse.agenda a set node = $4::uuid, fence = nextval('ridepulse.fence'),
          leased_until = now() + interval '1 millisecond'
            * case when chosen.claims > 1 then $1::bigint else $2::bigint end
        from chosen where a.ctid = chosen.place
        returning a.ride_id, a.fence, a.ctid as place, a.memo, chosen.claims, chosen.decisions,
          chosen.held_until
      ), counted as (
        update ridepulse.lost_claims l set fence = renewed.fence, claims = renewed.claims,
          decisions = renewed.decisions, is_waiting = false, is_deciding = false
        from renewed where l.ride_id = renewed.ride_id
      )
      select \(ClaimColumns.all.sql)
      from (
        select clock_timestamp() as now, null::timestamptz as next_due, renewed.*,
          true as is_taken_over, null::bigint as lowest_event, null::bigint as claimed_to,
          null::timestamptz as lowest_due,
          here.may_claim and (select count(*) from waiting) > (select count(*) from chosen)
            as has_lost_claims,
          here.*
        from here left join renewed on true
        offset 0
      ) result
      """)

  /// Records that rides of claims were read and are decided now: `LeaseStatements.claims`.
  static let recordDeciding = Statement(
    name: "lost_deciding",
    sql: """
      update ridepulse.lost_claims l set is_deciding = true
      from \(LeaseStatements.claims.table("c"))
      where l.ride_id = any (\(LeaseStatements.claims.keys)) and l.ride_id = c.ride_id
        and l.fence = c.fence
      """)

  /// Records that claims survived the decision of their rides, and extends their leases:
  /// `LeaseStatements.claims`; the lease in milliseconds follows them.
  ///
  /// It returns the rides that are still claimed, even if their short lease is over: a claim that
  /// takes one or sets it aside holds its lock, and then gives it another fence.
  static let recordDecided = Statement(
    name: "lost_decided",
    sql: """
      with held as materialized (
        select a.ctid as place, a.ride_id, a.fence
        from \(LeaseStatements.claims.table("c"))
        join ridepulse.agenda a on a.ride_id = c.ride_id and a.fence = c.fence and a.node = c.node
        where a.ride_id = any (\(LeaseStatements.claims.keys))
        order by a.ride_id
        for update of a skip locked
      ), renewed as (
        update ridepulse.agenda a set leased_until = now()
          + $\(LeaseStatements.claims.last + 1)::bigint * interval '1 millisecond'
        from held where a.ctid = held.place
      )
      update ridepulse.lost_claims l set is_deciding = false
      from held where l.ride_id = held.ride_id and l.fence = held.fence
      returning l.ride_id
      """)
}
