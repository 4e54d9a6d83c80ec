package import RideCore

// Reading phones, cards and start tokens again before a late push is sent, and what nodes report.
extension PostgresRideStore {
  /// Returns those recipients that are still there, with the same token and owner.
  ///
  /// - Throws: `StoreFailure`.
  package func unchanged(_ recipients: [PushRecipient]) async throws -> Set<PushRecipient> {
    if recipients.isEmpty { return [] }
    let rows = try await run(
      settlements,
      [
        Call(ClaimStatements.lookups),
        Call(RecipientStatements.unchanged, RecipientStatements.arrays(recipients)),
      ], timeout: .seconds(3))[1]
    return Set(
      (0..<rows.rowCount).compactMap { row in
        rows.int64(row, 0).flatMap { Int(exactly: $0) }.map { recipients[$0 - 1] }
      })
  }

  /// Records whether this node reaches APNs, and returns what the other live nodes have recorded.
  ///
  /// - Throws: `StoreFailure`.
  package func report(_ reach: NodeReach?) async throws -> NodePeers {
    let row = try await run(
      settlements, [Call(LeaseStatements.report, [node, reach?.rawValue])],
      timeout: .seconds(3))[0]
    return NodePeers(
      isAnyReached: row.bool(0, 0) ?? false, isAnyLost: row.bool(0, 1) ?? false)
  }
}

enum RecipientStatements {
  /// Returns the numbers, from 1, of recipients whose rows have not changed.
  ///
  /// $1 kinds, $2 IDs, $3 tokens, $4 owners; a null owner stands for any.
  static let unchanged = Statement(
    name: "unchanged_recipients",
    sql: """
      select r.number
      from unnest($1::text[], $2::bigint[], $3::text[], $4::text[]) with ordinality
        as r (kind, id, token, owner, number)
      where case r.kind
        when 'phone' then exists (
          select from ridepulse.current_devices d
          where d.id = r.id and d.token = r.token and (r.owner is null or d.owner_id = r.owner))
        when 'activity' then exists (
          select from ridepulse.current_live_activities a
          where a.id = r.id and a.token = r.token and a.ended_at is null
            and (r.owner is null or a.owner_id = r.owner))
        when 'start' then exists (
          select from ridepulse.current_start_tokens t
          where t.id = r.id and t.token = r.token and (r.owner is null or t.owner_id = r.owner))
        else true end
      """)

  static func arrays(_ recipients: [PushRecipient]) -> [String?] {
    [
      PostgresArray.literal(recipients.map(\.kind.rawValue)),
      PostgresArray.literal(recipients.map { String($0.id) }),
      PostgresArray.literal(recipients.map(\.token)),
      PostgresArray.literal(recipients.map { $0.owner?.text }),
    ]
  }
}
