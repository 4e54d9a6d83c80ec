import Testing

@testable import PostgresStore

/// Texts that are keys are limited to 512 bytes in every function that accepts them.
@Suite("Limits of IDs", .timeLimit(.minutes(60))) struct LimitTests {
  private static let longest = String(repeating: "é", count: 256)
  private static let tooLong = longest + "x"

  private let session: PostgresSession

  init() async throws {
    session = try PostgresSession(conninfo: try await migratedDatabase())
  }

  /// Functions and their text arguments; optional ones are listed separately.
  private static let functions: [(name: String, required: [String], optional: [String])] = [
    ("emit", ["event", "ride_id"], []),
    (
      "register_device", ["app", "owner_id", "token"],
      ["installation_id", "locale", "time_zone", "app_version"]
    ),
    (
      "register_live_activity", ["ride_id", "app", "owner_id", "token", "activity_id"],
      ["installation_id"]
    ),
    (
      "register_push_to_start", ["app", "owner_id", "token", "attributes_type"],
      ["installation_id"]
    ),
    ("contact", ["app", "owner_id"], ["installation_id"]),
    ("unregister_device", ["app", "token"], []),
    ("end_live_activity", ["app", "activity_id"], []),
    ("unregister_push_to_start", ["app", "token"], []),
  ]

  private static func longest(_ argument: String) -> String {
    argument == "token" ? String(repeating: "ab", count: 256) : longest
  }

  private func call(_ function: String, _ values: [String: String?]) async -> PostgresError? {
    let names = values.keys.sorted()
    let arguments = names.enumerated().map { "\($1) => $\($0 + 1)" }.joined(separator: ", ")
    do throws(PostgresError) {
      _ = try await session.value(
        "select ridepulse.\(function)(\(arguments))", names.map { values[$0] ?? nil })
      return nil
    } catch {
      return error
    }
  }

  @Test(arguments: functions.indices)
  func `a function takes 512 bytes, and refuses one more with the argument's name`(
    index: Int
  ) async throws {
    let (name, required, optional) = Self.functions[index]
    let good = Dictionary(
      uniqueKeysWithValues: (required + optional).map { ($0, Optional(Self.longest($0))) })
    #expect(await call(name, good) == nil)
    let words = (required + optional).filter { $0 != "token" }
    for argument in words {
      let error = await call(name, good.merging([argument: Self.tooLong]) { $1 })?.server
      #expect(error?.sqlState == "22023", "\(argument): \(String(describing: error))")
      #expect(error?.message == "\(argument) of ridepulse.\(name) has 513 bytes")
      #expect(error?.hint == "IDs, names and tokens have 512 bytes at most.")
    }
    for argument in words where required.contains(argument) {
      for value in [nil, ""] as [String?] {
        // An event without a ride concerns people: `ParticipantTests`.
        if name == "emit", argument == "ride_id", value == nil { continue }
        let error = await call(name, good.merging([argument: value]) { $1 })?.server
        #expect(error?.sqlState == "22023")
        #expect(error?.message.hasPrefix("ridepulse.\(name) needs \(argument), got ") == true)
      }
    }
    for argument in optional {
      for value in [nil, ""] as [String?] {
        #expect(await call(name, good.merging([argument: value]) { $1 }) == nil)
      }
    }
  }

  @Test func `two phones without an installation are two phones`() async throws {
    try await session.script(
      """
      select ridepulse.register_device('customer', 'c1', 'aa');
      select ridepulse.register_device('customer', 'c2', 'bb')
      """)
    #expect(
      try await session.value("select count(*) from ridepulse.devices where disabled_at is null")
        == "2")
  }

  @Test func `a ride's ID is bounded`() async throws {
    func insert(_ id: String) async throws {
      _ = try await session.value("insert into ridepulse.rides (id) values ($1)", [id])
    }
    let error = await #expect(throws: PostgresError.self) { try await insert(Self.tooLong) }
    #expect(error?.server?.constraint == "rides_id_at_most_512_bytes")
    try await insert(Self.longest)
  }
}
