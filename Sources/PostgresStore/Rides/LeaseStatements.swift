import RideCore

/// The statements that keep, return and park claimed rides.
enum LeaseStatements {
  private typealias Column = RowParameters<RideClaim>.Column

  private static let claim: [Column] = [
    .text("ride_id") { $0.rideID.text }, .integer("fence") { $0.fence },
    .text("node", "uuid") { $0.holder },
  ]

  /// Claims by ride, fence and holder.
  static let claims = RowParameters(after: 0, claim)

  /// Claims with whether the ride was taken over.
  static let takenClaims = RowParameters(
    after: 0, claim + [.boolean("is_taken_over") { $0.isTakenOver }])

  /// A memo in the form that the agenda stores.
  typealias StoredMemo = (claim: RideClaim, memo: String?)

  static let memos = RowParameters<StoredMemo>(
    after: 0,
    [
      .text("ride_id") { $0.claim.rideID.text }, .integer("fence") { $0.claim.fence },
      .text("node", "uuid") { $0.claim.holder },
      .text("memo") { $0.memo },
    ])

  /// A ride that could not be read.
  typealias Unread = (claim: RideClaim, reason: String, isFinal: Bool)

  static let unread = RowParameters<Unread>(
    after: 0,
    [
      .text("ride_id") { $0.claim.rideID.text }, .integer("fence") { $0.claim.fence },
      .text("node", "uuid") { $0.claim.holder },
      .text("reason") { $0.reason }, .boolean("is_taken_over") { $0.claim.isTakenOver },
      .boolean("is_final") { $0.isFinal },
    ])

  /// Returns fence and holder of those `claims` that are still held, locked or not.
  static let heldClaims = Statement(
    name: "ours",
    sql: """
      select a.fence, a.node
      from \(claims.table("o"))
      join ridepulse.agenda a on a.ride_id = o.ride_id and a.fence = o.fence
        and a.node = o.node
      where a.ride_id = any (\(claims.keys))
      """)

  /// Stores the `memos` of rides that stay leased.
  ///
  /// It returns the rides that are still leased and not locked by another session.
  static let journal = Statement(
    name: "journal",
    sql: """
      with held as materialized (
        select a.ride_id, j.memo
        from \(memos.table("j"))
        join ridepulse.agenda a on a.ride_id = j.ride_id and a.fence = j.fence
          and a.node = j.node
        where a.ride_id = any (\(memos.keys)) and a.leased_until > now()
        order by a.ride_id
        for update of a skip locked
      )
      update ridepulse.agenda a set memo = held.memo::jsonb
      from held where a.ride_id = any (\(memos.keys)) and a.ride_id = held.ride_id
      returning a.ride_id
      """)

  /// Extends the leases of `claims`; the lease in milliseconds follows them.
  ///
  /// A row that another session has locked stays unchanged: no node can claim it either.
  static let renew = Statement(
    name: "renew",
    sql: """
      with held as materialized (
        select a.ride_id
        from \(claims.table("r"))
        join ridepulse.agenda a on a.ride_id = r.ride_id and a.fence = r.fence
          and a.node = r.node
        where a.ride_id = any (\(claims.keys))
        order by a.ride_id
        for update of a skip locked
      )
      update ridepulse.agenda a
      set leased_until = now() + $\(claims.last + 1)::bigint * interval '1 millisecond'
      from held where a.ride_id = any (\(claims.keys)) and a.ride_id = held.ride_id
      """)

  /// Parks a ride: $1 holder, $2 ride ID, $3 fence, $4 reason.
  ///
  /// Its pushes may have been sent without a ledger row. The node stays in the row, so that the
  /// next node to claim the ride after `unpark` takes it over. The new fence ends the claim.
  static let park = Statement(
    name: "park",
    sql: """
      update ridepulse.agenda set fence = fence + 1, leased_until = 'infinity', parked_reason = $4,
        parked_at = now()
      where ride_id = $2 and fence = $3::bigint and node = $1::uuid
      """)

  /// The number of failed reads in a row after which a ride is parked.
  static let readAttempts = 3

  private static let isLast = "(u.is_final or a.unread + 1 >= \(readAttempts))"

  /// Counts failed reads of `unread` rides, and parks rides that failed too often.
  ///
  /// It returns the parked rides.
  static let leaveUnread = Statement(
    name: "leave_unread",
    sql: """
      with counted as (
        update ridepulse.agenda a set unread = a.unread + 1,
          node = case when u.is_taken_over then a.node end,
          leased_until = case when \(isLast) then 'infinity' else a.leased_until end,
          parked_reason = case when \(isLast) then u.reason end,
          parked_at = case when \(isLast) then now() end
        from \(unread.table("u"))
        where a.ride_id = u.ride_id and a.fence = u.fence and a.node = u.node
        returning a.ride_id, a.parked_reason
      ), ended as (
        -- It did not end its node.
        delete from ridepulse.lost_claims l using counted where l.ride_id = counted.ride_id
      )
      select ride_id, parked_reason from counted where parked_reason is not null
      """)

  /// Puts rides that do not exist on the agenda: `claims`.
  static let openCheck = Statement(
    name: "open_check",
    sql: """
      insert into ridepulse.agenda (ride_id, node, fence, leased_until)
      select ride_id, node, fence, now() + interval '1 minute'
      from \(claims.table("c"))
      """)

  static let begin = Statement(name: "check_begin", sql: "begin")
  /// Runs now what triggers and constraints of others have deferred to the commit.
  static let immediate = Statement(name: "check_immediate", sql: "set constraints all immediate")
  static let rollback = Statement(name: "check_rollback", sql: "rollback")

  /// Releases `takenClaims` unchanged; their rides are due again at once.
  ///
  /// A ride is taken over if its previous holder lost it only by the end of the lease; the next
  /// holder must find that in the row, too. An empty row goes: a claim may have made it for an event
  /// that another node had just settled, and then nothing would make it due. An event that is still
  /// there makes the next claim put the ride on the agenda again.
  static let release = Statement(
    name: "release",
    sql: """
      with emptied as (
        delete from ridepulse.agenda a using \(takenClaims.table("r"))
        where \(isTaken) and \(isEmpty)
      )
      update ridepulse.agenda a set leased_until = '-infinity',
        node = case when r.is_taken_over then a.node end
      from \(takenClaims.table("r"))
      where \(isTaken) and not (\(isEmpty))
      """)

  private static let isTaken = """
    a.ride_id = any (\(takenClaims.keys)) and a.ride_id = r.ride_id and a.fence = r.fence
          and a.node = r.node
    """

  private static let isEmpty =
    "not r.is_taken_over and a.memo is null and a.due_at is null and a.unread = 0"

  /// Records whether node $1 reaches APNs, $2, and returns whether another live node reaches it, and
  /// whether another has lost it.
  ///
  /// A node that has lost it does not claim, so this marks it as seen, and producers need not notify
  /// it. A node is live if it has claimed lately: it claims every 2 s.
  static let report = Statement(
    name: "report_reach",
    sql: """
      with me as (
        update ridepulse.nodes n set apns = $2,
          seen_at = case when $2 = 'lost' then now() else n.seen_at end,
          asleep = n.asleep and $2 is distinct from 'lost'
        where n.node = $1::uuid and (n.apns is distinct from $2 or $2 = 'lost')
      )
      select coalesce(bool_or(n.apns = 'reached'), false),
        coalesce(bool_or(n.apns = 'lost'), false)
      from ridepulse.nodes n
      where n.node <> $1::uuid and n.seen_at > now() - interval '8 seconds'
      """)

  /// Removes the node. Producers need not notify it any more.
  static let unregisterNode = Statement(
    name: "leave", sql: "delete from ridepulse.nodes where node = $1::uuid")
}
