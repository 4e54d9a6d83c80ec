import Base
import RideCore
import Testing

@testable import PostgresStore

@Suite("The store of old senders") struct LegacyPushStoreTests {
  private static let tokens = ["a0", "b1", "c2", "d3"].map { String(repeating: $0, count: 32) }

  private func run(
    _ environment: APNsEnvironment? = nil,
    _ body: (PostgresLegacyPushStore, PostgresSession) async throws -> Void
  ) async throws {
    let session = try PostgresSession(conninfo: try await migratedDatabase())
    try await body(
      PostgresLegacyPushStore(app: .customer, environment: environment, session: session), session)
    await session.close()
  }

  private func frame(
    _ token: Int, _ identifier: UInt32?, sender: Int = 1, payload: String = #"{"a":"Ä \"\\ {}"}"#
  ) throws -> LegacyFrame {
    LegacyFrame(
      sender: sender,
      push: LegacyPush(
        app: .customer, token: try #require(DeviceToken(Self.tokens[token])), payload: payload,
        expiration: 0, identifier: identifier))
  }

  private func words(_ takings: [LegacyCommitResult]) -> String {
    takings.map { taking in
      switch taking {
      case .taken(let receipt): receipt.isRepeat ? "repeat" : "new"
      case .refused: "refused"
      case .leftOut: "left out"
      }
    }.joined(separator: ", ")
  }

  private func ids(_ takings: [LegacyCommitResult]) -> [PushID] {
    takings.compactMap { if case .taken(let receipt) = $0 { receipt.id } else { nil } }
  }

  @Test func `pushes become events of pseudo rides, in order, and phones`() async throws {
    try await run(.sandbox) { store, session in
      let takings = try await store.take([frame(0, 1), frame(1, 2), frame(0, 3)])
      #expect(words(takings) == "new, new, new")
      let rows = try await session.run([
        direct(
          """
          select ride_id = ridepulse.legacy_ride('customer', data ->> 'token'), data ->> 'identifier',
            data ->> 'apns_id', data ->> 'payload', event
          from ridepulse.events order by id
          """)
      ])[0]
      #expect((0..<3).map { rows.string($0, 1) } == ["1", "2", "3"])
      #expect((0..<3).map { rows.string($0, 2) } == ids(takings).map(\.description))
      #expect(
        (0..<3).allSatisfy { rows.bool($0, 0) == true && rows.string($0, 4) == "legacy_push" })
      #expect(rows.string(0, 3) == #"{"a":"Ä \"\\ {}"}"#)
      let phones = try await session.value(
        """
        select string_agg(concat_ws(' ', app, environment, registered_at,
          owner_id = ridepulse.legacy_ride(app, token)), ', ')
        from ridepulse.devices
        """)
      let phone = "customer sandbox -infinity t"
      #expect(phones == "\(phone), \(phone)")
      // Ride IDs appear in logs, so they must not contain a token.
      let leaks = try await session.value(
        "select count(*) from ridepulse.events where strpos(ride_id, data ->> 'token') > 0")
      #expect(leaks == "0")
    }
  }

  @Test func `a frame that comes again is the same push, ten minutes later it is another`()
    async throws
  {
    try await run { store, session in
      let first = try await store.take([frame(0, 1), frame(0, 2), frame(0, 2)])
      #expect(words(first) == "new, new, repeat")
      let second = try await store.take([frame(0, 2), frame(0, 1), frame(0, 3), frame(1, 1)])
      #expect(words(second) == "repeat, repeat, new, new")
      #expect(ids(second)[0] == ids(first)[1] && ids(second)[1] == ids(first)[0])
      #expect(try await session.value("select count(*) from ridepulse.events") == "4")
      // The push's events are long gone by then.
      try await session.script(
        """
        delete from ridepulse.events;
        update ridepulse.legacy_frames set taken_at = now() - interval '11 minutes'
        """)
      let third = try await store.take([frame(0, 1)])
      #expect(words(third) == "new" && ids(third) != [ids(first)[0]])
      let fourth = try await store.take([frame(0, 1)])
      #expect(words(fourth) == "repeat" && ids(fourth) == ids(third))
      #expect(try await session.value("select count(*) from ridepulse.events") == "1")
    }
  }

  @Test func `a frame without an identifier is never a repeat`() async throws {
    try await run { store, session in
      let takings = try await store.take([frame(0, nil), frame(0, nil)])
      let more = try await store.take([frame(0, nil)])
      #expect(words(takings + more) == "new, new, new")
      #expect(Set(ids(takings + more)).count == 3)
    }
  }

  @Test func `disabled or set aside: refused, and with it what the same sender said after it`()
    async throws
  {
    try await run { store, session in
      _ = try await store.take([frame(0, 1), frame(1, 1), frame(2, 1)])
      try await session.script(
        """
        delete from ridepulse.events;
        update ridepulse.devices set disabled_at = now(), disabled_reason = 'Unregistered'
          where token = '\(Self.tokens[0])';
        update ridepulse.devices set quarantined_at = now() where token = '\(Self.tokens[1])'
        """)
      let takings = try await store.take([
        frame(2, 10), frame(0, 11), frame(1, 12), frame(2, 13), frame(2, 20, sender: 2),
        frame(1, 21, sender: 2), frame(3, 30, sender: 3),
      ])
      #expect(words(takings) == "new, refused, left out, left out, new, refused, new")
      let identifiers = try await session.value(
        "select string_agg(data ->> 'identifier', ' ' order by id) from ridepulse.events")
      #expect(identifiers == "10 20 30")
      #expect(try await session.value("select count(*) from ridepulse.devices") == "4")
    }
  }

  @Test func `a phone that is registered stays its owner's`() async throws {
    try await run { store, session in
      try await session.script(
        "select ridepulse.register_device('customer', 'u17', '\(Self.tokens[0])', 'production')")
      _ = try await store.take([frame(0, 1)])
      let owner = try await session.value(
        "select owner_id || ' ' || (registered_at > now() - interval '1 hour') from ridepulse.devices"
      )
      #expect(owner == "u17 true")
    }
  }

  @Test func `what APNs no longer knows is handed out once, until it is disabled again`()
    async throws
  {
    try await run { store, session in
      _ = try await store.take((0..<4).map { try frame($0, 1) })
      let reasons = ["Unregistered", "ExpiredToken", "replaced"]
      for (token, reason) in zip(Self.tokens, reasons) {
        try await session.script(
          """
          update ridepulse.devices set disabled_at = '2026-11-21 10:00:00.5Z',
            disabled_reason = '\(reason)' where token = '\(token)'
          """)
      }
      let page = try await store.disabled(of: .customer, limit: 1)
      #expect(page.map(\.token.hex) == [Self.tokens[0]])
      #expect(page.map(\.since.epochSeconds) == [1_795_255_200])
      #expect(try await store.disabled(of: .driver, limit: 9).isEmpty)
      try await store.forget(page)
      let rest = try await store.disabled(of: .customer, limit: 9)
      #expect(rest.map(\.token.hex) == [Self.tokens[1]])
      // The phone was disabled again after it was read: that has not been reported.
      try await session.script(
        "update ridepulse.devices set disabled_at = now() where disabled_reason is not null")
      try await store.forget(rest)
      let again = try await store.disabled(of: .customer, limit: 9)
      #expect(again.map(\.token.hex) == Array(Self.tokens[..<2]))
    }
  }

  @Test func `verdicts are those of the ledger, and frames of long ago are swept`() async throws {
    try await run { store, session in
      let takings = try await store.take((0..<3).map { try frame($0, 1) })
      let ids = ids(takings)
      for (id, status) in zip(
        ids, ["accepted', null", "pending', null", "rejected', 'BadDeviceToken'"])
      {
        try await session.script(
          """
          insert into ridepulse.ledger (ride_id, apns_id, event, rule, app, push_type, status,
            reason_code, attempts, occurred_at)
          select ride_id, '\(id)', event, 'legacy', 'customer', 'alert', '\(status), 1, now()
          from ridepulse.events where data ->> 'apns_id' = '\(id)'
          """)
      }
      let receipts = takings.compactMap { taking in
        if case .taken(let receipt) = taking { receipt } else { nil }
      }
      let verdicts = try await store.verdicts(on: receipts)
      #expect(verdicts == [ids[0]: .other, ids[2]: .badToken])
      try await session.script(
        "update ridepulse.legacy_frames set taken_at = now() - interval '11 minutes'")
      _ = try await session.run([Call(LegacyStatements.sweep)])
      #expect(try await session.value("select count(*) from ridepulse.legacy_frames") == "0")
    }
  }

  @Test func `gateways at once wait for nobody in a circle, and take each frame once`() async throws
  {
    let conninfo = try await makeDatabase()
    let sessions = try (0..<4).map { _ in try PostgresSession(conninfo: conninfo) }
    _ = try await Migrations.apply(session: sessions[0])
    let frames = try (0..<300).map { try frame($0 % 4, UInt32($0)) }
    let takings = try await withThrowingTaskGroup { group in
      for (index, session) in sessions.enumerated() {
        group.addTask {
          let store = PostgresLegacyPushStore(app: .customer, environment: nil, session: session)
          return try await store.take(index % 2 == 0 ? frames : frames.reversed())
        }
      }
      return try await group.reduce(into: []) { $0 += $1 }
    }
    let new = takings.filter {
      if case .taken(let receipt) = $0 { !receipt.isRepeat } else { false }
    }
    #expect(takings.count == 1200 && new.count == 300)
    #expect(try await sessions[0].value("select count(*) from ridepulse.events") == "300")
    for session in sessions { await session.close() }
  }
}
