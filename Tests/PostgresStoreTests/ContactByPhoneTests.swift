import Base
import Testing
import TestSupport

@testable import PostgresStore
@testable import RideCore

/// Contacts by installation, and participants that come with a ride.
@Suite("Contact by phone", .timeLimit(.minutes(60))) struct ContactByPhoneTests {
  private let session: PostgresSession

  init() async throws {
    session = try PostgresSession(conninfo: try await migratedDatabase())
  }

  private func addPhones() async throws {
    try await session.script(
      """
      insert into ridepulse.rides (id, state, customer_id) values ('r', 'e', 'c');
      select ridepulse.register_device('customer', 'c', '01', null, 'i1'),
        ridepulse.register_device('customer', 'c', '02', null, 'i2'),
        ridepulse.register_device('customer', 'c', '03')
      """)
  }

  /// Returns which of the phones 01, 02 and 03 a claim reads with a contact.
  private func reached() async throws -> [Bool] {
    var rule = Rule(
      name: "r", app: .customer, when: .on(["e"]), what: .background, expires: .neverStore,
      source: "test")
    rule.condition = try Condition("now - phone.contact > duration('5m')")
    let rules = RuleSet(activeStates: ["e"], finalStates: [], events: [], rules: [rule])
    var rows = RideRows()
    let statement = PhoneRead.ofPeople(for: rules)
    #expect(statement.name == "phones_of_people_contacts" && rules.asksForPhoneContacts)
    let customer = RidePerson(ride: "r", person: PhoneOwner(.customer, "c"))
    let parameters =
      RidePerson.rows.arrays([customer]) + TokenInMemo.rows.arrays([]) + [nil]
    rows.readPhones(try await session.run([Call(statement, parameters)])[0])
    let now = try await session.value("select \(SQLTime.now)").flatMap { Int64($0) } ?? 0
    return rows.view(of: "r").phones.map { phone in
      phone.contactedAt.map { Timestamp(microseconds: now) - $0 < .seconds(300) } ?? false
    }
  }

  static let contacts: [(calls: String, reaches: [Bool])] = [
    ("'c'", [true, true, true]), ("'c', null", [true, true, true]),
    ("'c', ''", [true, true, true]),
    ("'c', 'i1'", [true, false, true]), ("'c', 'i2'", [false, true, true]),
    ("'c', 'unregistered'", [false, false, true]), ("'d', 'i1'", [false, false, false]),
  ]

  @Test(arguments: contacts.indices)
  func `R88: a contact counts for its phone, for those that named none, or for all`(index: Int)
    async throws
  {
    try await addPhones()
    #expect(try await reached() == [false, false, false])
    try await session.script("select ridepulse.contact('customer', \(Self.contacts[index].calls))")
    #expect(try await reached() == Self.contacts[index].reaches)
  }

  @Test func `R88: contacts with and without a phone do not hide each other`() async throws {
    try await addPhones()
    let age = """
      update ridepulse.contacts set contacted_at = contacted_at - interval '10 minutes',
        unnamed_at = unnamed_at - interval '10 minutes';
      update ridepulse.installation_contacts set contacted_at = contacted_at - interval '10 minutes'
      """
    try await session.script("select ridepulse.contact('customer', 'c', 'i1'); \(age)")
    #expect(try await reached() == [false, false, false])
    try await session.script(
      "select ridepulse.contact('customer', 'c'); select ridepulse.contact('customer', 'c', 'i1')")
    #expect(try await reached() == [true, true, true])
    try await session.script("\(age); select ridepulse.contact('customer', 'c', 'i2')")
    #expect(try await reached() == [false, true, true])
    // The clock was set back: the later times stay.
    try await session.script(
      """
      update ridepulse.contacts set contacted_at = now() + interval '1 h', unnamed_at = null;
      select ridepulse.contact('customer', 'c', 'i1'); select ridepulse.contact('customer', 'c')
      """)
    #expect(
      try await session.value(
        "select contacted_at > now() and unnamed_at = contacted_at from ridepulse.contacts") == "t")
  }

  static let puts: [(participants: String, people: String?)] = [
    (#", "participants": [{"app": "customer", "owner_id": "c2"}]"#, "customer c2"),
    ("", "customer c1, driver d1"), (#", "participants": []"#, nil),
    (
      #", "participants": [{"app": "driver", "owner_id": "d1"}, {"app": "driver", "owner_id": "d2"}]"#,
      "driver d1, driver d2"
    ),
    (
      #", "participants": [{"app": "driver", "owner_id": "d2"}, {"app": "driver", "owner_id": "d2"}]"#,
      "driver d2"
    ),
  ]

  @Test(arguments: puts.indices)
  func `R89: a ride that is put has the participants that it names`(index: Int) async throws {
    let people = """
      select string_agg(app || ' ' || owner_id, ', ' order by app, owner_id)
      from ridepulse.participants where ride_id = 'r'
      """
    let both =
      #"[{"app": "customer", "owner_id": "c1"}, {"app": "driver", "owner_id": "d1"}]"#
    for id in ["r", "other"] {
      try await session.script(
        #"select ridepulse.put_ride('{"id": "\#(id)", "state": "e", "participants": \#(both)}')"#)
    }
    #expect(try await session.value(people) == "customer c1, driver d1")
    try await session.script("delete from ridepulse.events")
    try await session.script(
      #"select ridepulse.put_ride('{"id": "r", "state": "e"\#(Self.puts[index].participants)}')"#)
    #expect(try await session.value(people) == Self.puts[index].people)
    #expect(try await session.value("select count(*) from ridepulse.events") == "0")
    #expect(
      try await session.value("select count(*) from ridepulse.participants where ride_id = 'other'")
        == "2")
  }

  @Test func `R89: a ride may be put again with as many people as are allowed`() async throws {
    let put = """
      select ridepulse.put_ride(jsonb_build_object('id', 'r', 'participants', (
        select jsonb_agg(jsonb_build_object('app', 'driver', 'owner_id', 'd' || n))
        from generate_series(%, % + 999) n)))
      """
    for first in ["1", "1", "2"] {
      try await session.script(put.replacing("%", with: first))
    }
    #expect(
      try await session.value(
        "select concat(count(*), bool_or(owner_id = 'd1001')) from ridepulse.participants")
        == "1000t")
  }
}
