package import Base
package import RideCore

/// Enables phones again that APNs or FCM reported as gone, such as after a wrong key or topic.
///
/// It leaves out a phone that is signed out, one whose token its app has withdrawn, and one whose
/// installation has registered since: the app knows more than the push services. If a token is dead, its
/// next push is refused, and disables the phone again.
package struct PhoneRevival: Sendable {
  /// The phones to enable again.
  package struct Selection: Hashable, Sendable {
    package var app: App
    /// The first time at which a phone may have been disabled.
    package var since: Timestamp
    /// The end of these times, which is not included; nil means none.
    package var until: Timestamp?
    /// The only reason that counts; nil means any.
    package var reason: String?

    package init(
      app: App, since: Timestamp, until: Timestamp? = nil, reason: String? = nil
    ) {
      (self.app, self.since, self.until, self.reason) = (app, since, until, reason)
    }
  }

  /// The phones that were disabled for one reason.
  package struct Count: Hashable, Sendable {
    package var reason: String
    /// The phones that are enabled again, or would be.
    package var revived: Int64 = 0
    /// The phones whose installation has registered since.
    package var replaced: Int64 = 0
    /// The phones whose rows another session has locked.
    package var locked: Int64 = 0
  }

  private let session: PostgresSession

  /// Uses an open session, which it does not close.
  package init(session: PostgresSession) {
    self.session = session
  }

  /// Why phones are disabled if the app, and not a push service, reported it.
  package static let reasonsOfApps = ["replaced", "signed_out", "withdrawn"]

  /// The number of phones of a transaction. Each one reads all phones of the app once.
  static let batch = 5000

  /// Counts the phones, and changes nothing.
  package func count(_ selection: Selection) async throws(PostgresError) -> [Count] {
    try await all(RevivalStatements.count, selection) { _ in }
  }

  /// Enables the phones again, and returns the counts by reason.
  ///
  /// - Parameter progress: Receives the number of phones that are enabled again.
  /// - Throws: `PostgresError`; some of the phones may be enabled again then, and the call may be
  ///   repeated.
  package func revive(
    _ selection: Selection, progress: (Int64) -> Void
  ) async throws(PostgresError) -> [Count] {
    try await all(RevivalStatements.revive, selection, progress)
  }

  private func all(
    _ statement: Statement, _ selection: Selection, _ progress: (Int64) -> Void
  ) async throws(PostgresError) -> [Count] {
    var counts: [String: Count] = [:]
    var last: Int64 = 0
    while true {
      let rows = try await session.run(
        [
          Call(
            statement,
            [
              selection.app.rawValue, String(selection.since.microseconds),
              (selection.until?.microseconds).map { String($0) }, selection.reason, String(last),
            ])
        ], timeout: .seconds(120))[0]
      if rows.rowCount == 0 { return counts.values.sorted { $0.reason < $1.reason } }
      for row in 0..<rows.rowCount {
        let reason: String = try rows.value(row, 0)
        var count = counts[reason] ?? Count(reason: reason)
        count.revived += try rows.value(row, 1)
        count.replaced += try rows.value(row, 2)
        count.locked += try rows.value(row, 3)
        counts[reason] = count
        last = try rows.value(row, 4)
      }
      progress(counts.values.reduce(0) { $0 + $1.revived })
    }
  }
}

/// The statements of a revival.
///
/// Each one reads at most `PhoneRevival.batch` phones with an ID above $5 that were disabled between $2
/// and $3, of app $1, for reason $4; no end and any reason if these are NULL. It returns a row for each reason: the numbers of
/// phones, and the last ID that was read.
private enum RevivalStatements {
  private static let found = """
    found as materialized (
      select d.id, d.installation_id, d.registered_at, d.disabled_at, d.disabled_reason as reason
      from ridepulse.devices d
      where d.app = $1 and d.id > $5::bigint
        and d.disabled_at >= \(SQLTime.timestamp("$2::bigint"))
        and ($3::bigint is null or d.disabled_at < \(SQLTime.timestamp("$3::bigint")))
        and d.disabled_reason not in (\(reasonsOfApps))
        and ($4::text is null or d.disabled_reason = $4)
      order by d.id limit \(PhoneRevival.batch)
    ), newest as materialized (
      select n.installation_id, max(n.registered_at) as registered_at,
        bool_or(n.disabled_at is null) as is_enabled
      from ridepulse.devices n
      join (select distinct installation_id from found) f on f.installation_id = n.installation_id
      where n.app = $1 group by n.installation_id
    ), judged as materialized (
      select f.*, coalesce(n.is_enabled or n.registered_at > f.registered_at, false) as is_replaced
      from found f left join newest n on n.installation_id = f.installation_id
    )
    """

  private static let reasonsOfApps = PhoneRevival.reasonsOfApps.map { "'\($0)'" }
    .joined(separator: ", ")

  private static let counted = """
    select j.reason, count(*) filter (where f.id is not null),
      count(*) filter (where j.is_replaced),
      count(*) filter (where f.id is null and not j.is_replaced), (select max(id) from found)
    from judged j left join free f on f.id = j.id group by j.reason
    """

  static let count = Statement(
    name: "",
    sql: """
      with \(found), free as (select id from judged where not is_replaced)
      \(counted)
      """)

  /// What was recorded about these phones before and is not applied yet would disable them again.
  static let revive = Statement(
    name: "",
    sql: """
      with \(found), free as materialized (
        select d.id from ridepulse.devices d join judged j on j.id = d.id
        where not j.is_replaced and d.disabled_at = j.disabled_at and d.disabled_reason = j.reason
        order by d.id for update of d skip locked
      ), revived as (
        update ridepulse.devices d set disabled_at = null, disabled_reason = null, refusals = 0,
          probe = null, is_probed = false, quarantined_at = null
        where d.id in (select id from free)
      ), forgotten as (
        delete from ridepulse.token_outcomes o
        where o.kind = 'phone' and o.token_id in (select id from free)
          and (o.gone_reason is not null or o.is_refused)
      )
      \(counted)
      """)
}
