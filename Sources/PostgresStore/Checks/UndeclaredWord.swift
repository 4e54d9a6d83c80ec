/// A state or an event of the last day that no rule file declared.
package struct UndeclaredWord: Hashable, Sendable {
  package enum Kind: Hashable, Sendable {
    case state, event
  }

  package var kind: Kind
  package var word: String
  /// How many events had this name.
  package var count: Int64

  package init(_ kind: Kind, _ word: String, count: Int64) {
    (self.kind, self.word, self.count) = (kind, word, count)
  }
}

extension UndeclaredWord {
  /// More words than people can fix at once.
  private static let limit = 100

  private static let ofLastDay = Statement(
    name: "undeclared_words",
    sql: """
      select reason_code = 'unknown_state', event, count(*)
      from ridepulse.ledger
      where reason_code in ('unknown_event', 'unknown_state')
        and created_at > now() - interval '1 day'
      group by 1, 2 order by 3 desc, 2 limit \(limit)
      """)

  /// Returns the words that the engine met in the last day, the most frequent first.
  package static func all(_ session: PostgresSession) async throws(PostgresError)
    -> [UndeclaredWord]
  {
    let rows = try await session.run([Call(ofLastDay)])[0]
    return try (0..<rows.rowCount).map { row throws(PostgresError) in
      UndeclaredWord(
        try rows.value(row, 0) ? .state : .event, try rows.value(row, 1),
        count: try rows.value(row, 2))
    }
  }
}
