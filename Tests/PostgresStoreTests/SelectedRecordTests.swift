import Base
import RideCore
import TestSupport
import Testing

@testable import PostgresStore

/// Tests of records that a statement reads by the columns that their initializer names.
@Suite(.timeLimit(.minutes(60))) struct SelectedRecordTests {
  private struct Phone: SelectedRecord, Equatable {
    let id: Int64
    let owner: OwnerID
    let registeredAt: Timestamp
    let age: Duration?
    let locale: String?

    init(_ columns: inout some RecordColumns) throws(PostgresError) {
      id = try columns.next("p.id")
      owner = try columns.next("p.owner_id")
      registeredAt = try columns.next("p.registered_at")
      age = try columns.next("p.age")
      locale = try columns.next("p.locale")
    }
  }

  private let session: PostgresSession

  init() async throws {
    session = try PostgresSession(conninfo: try await makeDatabase())
  }

  private func phones(_ rows: String) async throws -> [Phone] {
    let sql = """
      select \(Phone.selected)
      from (values \(rows)) p (id, owner_id, registered_at, age, locale) order by p.id
      """
    return try Phone.all(try await session.run([direct(sql)])[0])
  }

  @Test func `Each column is named once, for the SQL and for reading`() async throws {
    let phones = try await phones(
      """
      (1, 'c1', timestamptz '2026-01-01Z', interval '2 s', 'de'),
      (2, '', timestamptz '-infinity', null, null)
      """)
    #expect(phones.map(\.id) == [1, 2] && phones.map(\.owner) == ["c1", ""])
    #expect(phones[0].registeredAt == Timestamp(epochSeconds: 1_767_225_600))
    #expect(phones.map(\.age) == [.seconds(2), nil] && phones.map(\.locale) == ["de", nil])
  }

  @Test(arguments: [
    ("(1, null::text, now(), null::interval, null::text)", "p.owner_id"),
    ("('x', 'c1', now(), null::interval, null::text)", "p.id"),
    ("(1, 'c1', null::timestamptz, null::interval, null::text)", "p.registered_at"),
  ])
  func `A NULL, or a value of another type, is an error with the column's name`(
    row: String, column: String
  ) async throws {
    let error = await #expect(throws: PostgresError(.unreadable(column: column))) {
      try await phones(row)
    }
    #expect(error?.failure.cause == .values)
    #expect(error?.failure.description.contains(column) == true)
    #expect(error?.isTransient == false && error?.mayHaveCommitted == false)
  }

  @Test func `A single value that is missing has the name that the server gives it`() async throws {
    let result = try await session.run([direct("select count(*) as rides, null as oldest")])[0]
    #expect(try result.value(0, 0) == 1 as Int64)
    #expect(throws: PostgresError(.unreadable(column: "oldest"))) {
      try result.value(0, 1) as Int64
    }
    #expect(throws: PostgresError(.unreadable(column: "rides"))) {
      try result.value(1, 0) as Int64
    }
  }
}
