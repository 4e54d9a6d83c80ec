package import Base
package import RideCore

/// A JSON type that a field of a card had in the last day.
package struct SentCardType: Hashable, Sendable {
  package var line: CardTypeTally.Line
  /// When it was last sent.
  package var lastAt: Timestamp

  package init(_ line: CardTypeTally.Line, lastAt: Timestamp) {
    (self.line, self.lastAt) = (line, lastAt)
  }
}

extension SentCardType {
  private static let columns = RowParameters<CardTypeTally.Line>(
    after: 0,
    [
      .text("attributes_type") { $0.attributesType }, .text("field") { $0.field },
      .text("json_type") { $0.type.rawValue }, .integer("count") { $0.count },
    ])

  /// Rows are locked in the order of the key: two nodes write the same ones.
  private static let add = Statement(
    name: "",
    sql: """
      insert into ridepulse.card_type_hours as t (attributes_type, field, json_type, count)
      select r.attributes_type, r.field, r.json_type, r.count
      from \(columns.table("r"))
      order by 1, 2, 3
      on conflict (attributes_type, field, json_type, hour) do update set
        count = t.count + excluded.count, last_at = excluded.last_at
      """)

  /// Rows that another node adds to or prunes are left for the next time.
  private static func prune(_ table: String, _ column: String) -> Statement {
    Statement(
      name: "",
      sql: """
        delete from ridepulse.\(table) where ctid = any (array(
          select ctid from ridepulse.\(table) where \(column) < now() - interval '1 day'
          for update skip locked))
        """)
  }

  /// Nodes of an earlier version write to `card_types`.
  private static let prunes = [prune("card_type_hours", "hour"), prune("card_types", "last_at")]

  /// Adds what a node counted to what all nodes counted, and deletes counts older than a day.
  package static func record(
    _ lines: [CardTypeTally.Line], _ session: PostgresSession, timeout: Duration = .seconds(10)
  ) async throws(PostgresError) {
    _ = try await session.run([Call(add, columns.arrays(lines))], timeout: timeout)
    // Each has a transaction of its own: one that adds and deletes could wait for another node
    // that waits for it. What is not deleted now is deleted a minute later.
    for prune in prunes { _ = try? await session.run([Call(prune)], timeout: timeout) }
  }

  /// Sums the hours that began within the last day.
  private static let ofLastDay = Statement(
    name: "",
    sql: """
      select attributes_type, field, json_type, sum(count)::bigint, \(SQLTime.micros("max(last_at)"))
      from ridepulse.card_type_hours where hour > now() - interval '1 day'
      group by 1, 2, 3 order by 1, 2, 3
      """)

  /// Returns the types of the last day. Those that a newer program recorded are left out.
  package static func all(_ session: PostgresSession) async throws(PostgresError)
    -> [SentCardType]
  {
    let rows = try await session.run([Call(ofLastDay)])[0]
    var types: [SentCardType] = []
    for row in 0..<rows.rowCount {
      guard let type = rows.string(row, 2).flatMap(CardTypeTally.JSONType.init) else { continue }
      let line = CardTypeTally.Line(
        attributesType: try rows.value(row, 0), field: try rows.value(row, 1), type: type,
        count: try rows.value(row, 3))
      types.append(SentCardType(line, lastAt: try rows.value(row, 4)))
    }
    return types
  }
}

/// The valid push-to-start tokens of one app and attributes-type.
package struct StartTokenCount: Hashable, Sendable {
  package var app: App
  package var attributesType: String
  /// At most `limit`.
  package var count: Int64

  package init(app: App, attributesType: String, count: Int64) {
    (self.app, self.attributesType, self.count) = (app, attributesType, count)
  }

  /// The most that is counted: a service may have millions.
  package static let limit: Int64 = 1000

  /// Steps through the unique index from one type to the next: the table may be large.
  private static let byType = Statement(
    name: "",
    sql: """
      with recursive type as (
        (select app, attributes_type from ridepulse.push_to_start_tokens
         order by app, attributes_type limit 1)
        union all
        select n.app, n.attributes_type from type t cross join lateral (
          select app, attributes_type from ridepulse.push_to_start_tokens s
          where (s.app, s.attributes_type) > (t.app, t.attributes_type)
          order by app, attributes_type limit 1) n
      )
      select t.app, t.attributes_type, (
        select count(*) from (
          select from ridepulse.push_to_start_tokens s
          where s.app = t.app and s.attributes_type = t.attributes_type and s.disabled_at is null
          limit \(limit)) valid)
      from type t limit 1000
      """)

  /// Returns the types with at least one valid token.
  package static func all(_ session: PostgresSession) async throws(PostgresError)
    -> [StartTokenCount]
  {
    let rows = try await session.run([Call(byType)])[0]
    let counts = try (0..<rows.rowCount).map { row throws(PostgresError) in
      StartTokenCount(
        app: try rows.value(row, 0), attributesType: try rows.value(row, 1),
        count: try rows.value(row, 2))
    }
    return counts.filter { $0.count > 0 }
  }
}
