import Base
import Foundation
import LocalStack
import RideCore
import Testing
import TestSupport

/// Tests of `explain` by person, token and apns-id, with a real service, database and simulator.
@Suite("explain without a ride") struct SearchTests {
  private static let golden = Project.path("Tests/RidePulseTests/Golden/search.txt")
  private static let oldToken = String(repeating: "0d", count: 32)

  /// Replaces what differs from run to run with placeholders.
  private static func tamed(_ text: String) -> String {
    text.replacing(/\d{4}-\d\d-\d\d \d\d:\d\d:\d\d \+00:00/, with: "TIME")
      .replacing(/expires \d\d:\d\d:\d\d \+00:00/, with: "expires TIME")
      .replacing(/[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}/, with: "ID")
      .replacing(/after \d+ ms/, with: "after N ms")
      .replacing(/rules [0-9a-f]{64}/, with: "rules SHA256")
  }

  /// A customer with a phone, a disabled phone, a card and a start token; a ride that is live and
  /// one without a push to the person's phone.
  private func ridden(_ stage: Stage) async throws {
    let server = try Server(try stage.environment(rules: CardTests.rules))
    try await stage.sql(
      """
      select ridepulse.register_device('customer', 'c1', '\(Self.oldToken)', 'production', 'i1');
      select ridepulse.register_device('customer', 'c1', '\(Stage.customerToken)', 'production', 'i1',
        'de-AT');
      select ridepulse.register_push_to_start('customer', 'c1', '\(CardTests.startToken)', 'OtherAttributes');
      select ridepulse.contact('customer', 'c1');
      insert into ridepulse.rides (id, state, customer_id) values ('r1', 'requested', 'c1'),
        ('r2', 'requested', 'c2');
      """)
    try await stage.settled()
    try await stage.sql("update ridepulse.rides set state = 'driver_assigned' where id = 'r1'")
    try await stage.settled()
    // Before the card is there, which takes the alert's place.
    try await stage.sql("select ridepulse.emit('driver_arrived', 'r1')")
    try await stage.settled()
    try await stage.sql(
      """
      select ridepulse.register_live_activity(
        'r1', 'customer', 'c1', '\(CardTests.token)', 'activity-1')
      """)
    try await stage.settled()
    try await stage.sql(
      "update ridepulse.rides set state = 'driver_arrived' where id in ('r1', 'r2')")
    try await stage.settled()
    #expect(server.stop() == 0)
  }

  private func explain(_ stage: Stage, _ words: String...) throws -> Tool {
    try Command.ridepulse(["explain"] + words, stage.environment)
  }

  @Test func `R113: a person's phones, cards, rides and pushes, also those that reached no phone`()
    async throws
  {
    try await Stage.run { stage in
      try await ridden(stage)
      let result = try explain(stage, "--owner", "c1")
      #expect(result.status == 0, "\(result.errors)")
      #expect(try Golden.difference(of: Self.tamed(result.output), from: Self.golden) == nil)
      // The other person has no phone: the ride alone names it.
      let other = try explain(stage, "--owner", "c2")
      #expect(other.status == 0, "\(other.errors)")
      #expect(other.output.contains("none: the app has not called register_device for this owner"))
      #expect(other.output.contains("arrived (alert) to customer c2: suppressed: no phone"))
      #expect(!other.output.contains("r1") && other.output.contains("ridepulse explain r2"))
    }
  }

  @Test func `R113: a token, by its end or whole, of a phone, a card, or one that was replaced`()
    async throws
  {
    try await Stage.run { stage in
      try await ridden(stage)
      for token in ["c1c1c1", Stage.customerToken, "…C1C1C1C1"] {
        let phone = try explain(stage, "--token", token)
        #expect(phone.output.hasPrefix("phones\n  customer c1 …c1c1c1, production, de-AT"))
        #expect(
          phone.output.contains("arrived (alert) to customer c1 …c1c1c1: accepted"), "\(phone)")
        #expect(!phone.output.contains("cacaca"), "\(phone.output)")
      }
      let card = try explain(stage, "--token", "cacaca")
      #expect(card.output.hasPrefix("cards\n  activity-1 of ride r1, customer c1 …cacaca"))
      #expect(
        card.output.contains("card (card update) to customer c1 …cacaca: accepted"), "\(card)")
      let old = try explain(stage, "--token", String(Self.oldToken.suffix(20)))
      #expect(old.output.contains("disabled") && old.output.contains(": replaced"), "\(old.output)")
      #expect(old.output.contains("no push is recorded"), "\(old.output)")
      let start = try explain(stage, "--token", "5a5a5a5a")
      #expect(start.output.contains("customer c1 …5a5a5a, starts OtherAttributes"), "\(start)")
      // Another phone with the same end is not mixed with it.
      try await stage.sql(
        """
        select ridepulse.register_device('driver', 'd9', '\(String(repeating: "e", count: 58))c1c1c1')
        """)
      let longer = try explain(stage, "--token", "eec1c1c1")
      #expect(longer.output.contains("d9") && !longer.output.contains("arrived"), "\(longer)")
    }
  }

  @Test func `R113: an apns-id leads to its push and its ride`() async throws {
    try await Stage.run { stage in
      try await ridden(stage)
      let push = try #require(try stage.arrivals().last { $0.token == Stage.customerToken })
      for id in [push.id, push.id.uppercased()] {
        let found = try explain(stage, "--apns-id", id)
        #expect(found.status == 0, "\(found.errors)")
        #expect(found.output.hasPrefix("push\n"))
        #expect(found.output.contains("ride r1: driver_arrived"), "\(found.output)")
        #expect(found.output.contains("apns-id \(push.id)"), "\(found.output)")
        #expect(found.output.contains("\ndecided by\n  rules "), "\(found.output)")
        #expect(found.output.hasSuffix("ridepulse explain r1\n"), "\(found.output)")
      }
    }
  }

  @Test func `R113: what is not there is named, with what to check`() async throws {
    try await Stage.run { stage in
      for (words, hint) in [
        (["--owner", "c9"], "names an owner c9. Check the ID"),
        (["--token", "abcdef"], "ends in abcdef. Check that the app has registered it"),
        (["--apns-id", "0c244c98-2cc0-81c0-9f50-cfc81cd45506"], "30 days by default"),
      ] {
        let result = try Command.ridepulse(["explain"] + words, stage.environment)
        #expect(result.status == 1 && result.output.isEmpty)
        #expect(result.errors.contains(hint), "\(result.errors)")
      }
      for (words, hint) in [
        ([], "give exactly one of RIDE, --owner, --apns-id, --token"),
        (["r1", "--owner", "c1"], "give exactly one of"),
        (["--token", "abc"], "the last 6 or more characters"),
        (["--token", "abcde!"], "the last 6 or more characters"),
        (["--apns-id", "abc"], "is not an apns-id"), (["--owner", ""], "is not an owner ID"),
      ] as [([String], String)] {
        let result = try Command.ridepulse(["explain"] + words, stage.environment)
        #expect(result.status == 64 && result.output.isEmpty, "\(words)")
        #expect(result.errors.contains(hint), "\(result.errors)")
      }
    }
  }

  @Test func `R113: the roles reader and engine may search, and a reader of before too`()
    async throws
  {
    try await Stage.run { stage in
      try await ridden(stage)
      try await stage.asReader { environment in
        for words in [["--owner", "c1"], ["--token", "c1c1c1"], ["r1"]] {
          let result = try Command.ridepulse(["explain"] + words, environment)
          #expect(result.status == 0 && result.output.contains("in use since"), "\(result)")
        }
        // Its rights are of the time before the table.
        let role = environment["DATABASE_URL"]?.split(separator: "=").last ?? ""
        try await stage.sql("revoke select on ridepulse.revisions from \(role)")
        let result = try Command.ridepulse(["explain", "r1"], environment)
        #expect(result.output.contains("or this role may not read it"), "\(result)")
      }
    }
  }

  @Test func `R113: HTTP searches as the command does, and refuses the rest`() async throws {
    try await Stage.run { stage in
      try await ridden(stage)
      let (server, api) = try await APIClient.serve(stage.environment)
      defer { server.stop() }
      let byOwner = try api.get("/v1/explain?owner_id=c1")
      #expect(byOwner.status == 200, "\(byOwner)")
      let printed = try explain(stage, "--owner", "c1", "--format", "json")
      let names = ["phones", "start_tokens", "live_activities", "contacts"]
      let json = try #require(JSONValue(json: printed.output.utf8))
      for name in names {
        #expect(byOwner.body?.value(at: [name]) == json.value(at: [name]), "\(name)")
      }
      #expect(try api.get("/v1/explain?token=c1c1c1").text.contains("driver_arrived"))
      for (query, code) in [
        ("", "missing_field"), ("?ride=r1", "unknown_field"), ("?owner_id=", "invalid_value"),
        ("?owner_id=a%00b", "invalid_value"), ("?token=c1", "invalid_value"),
        ("?owner_id=c1&token=c1c1c1", "invalid_value"), ("?apns_id=1", "invalid_value"),
        ("?owner_id=c9", "not_recorded"),
      ] {
        let answer = try api.get("/v1/explain\(query)")
        #expect(answer.code == code, "\(query): \(answer)")
      }
      var stranger = api
      stranger.token = "wrong"
      #expect(try stranger.get("/v1/explain?owner_id=c1").status == 401)
    }
  }

  @Test func `R113: only the newest are shown, and the way to the others works`() async throws {
    try await Stage.run { stage in
      try await stage.addRide()
      try await stage.sql(
        """
        insert into ridepulse.ledger (ride_id, apns_id, event, rule, app, push_type, status, attempts,
          device_id, token_suffix, occurred_at, created_at, finished_at)
        select 'r1', gen_random_uuid(), 'e' || n, 'r', 'customer', 'alert', 'accepted', 1, d.id,
          'c1c1c1', now() - n * interval '1 hour', now() - n * interval '1 hour', now()
        from generate_series(1, 60) n, ridepulse.devices d where d.app = 'customer';
        insert into ridepulse.ledger (ride_id, apns_id, event, rule, app, push_type, status, attempts,
          token_suffix, occurred_at, created_at, finished_at)
        select ride, gen_random_uuid(), event, 'r', app, 'alert', 'suppressed', 0, suffix,
          now() - interval '70 hours', now() - interval '70 hours', now()
        from (values ('r1', 'no phone', 'customer', null), ('r9', 'same digits', 'customer', 'c1c1c1'),
          ('r1', 'driver''s', 'driver', 'dddddd')) v (ride, event, app, suffix)
        """)
      let result = try explain(stage, "--owner", "c1")
      #expect(result.output.contains(": e1\n") && result.output.contains(": e50\n"))
      #expect(!result.output.contains(": e51\n"), "\(result.output)")
      let line = try #require(result.output.firstMatch(of: /older ones.*?: (select .*)\n/)).output.1
      let older = try await stage.rows(String(line))
      let events = (50...60).map { "e\($0)" }
      #expect(older.prefix(11).map { $0[5] } == events, "\(older)")
      // Those that reached no phone are among them, and of other people those that docs/explain.md names.
      #expect(Set(older.dropFirst(11).map { $0[5] }) == ["no phone", "same digits"], "\(older)")
    }
  }

  @Test func `R115: a row names the rules and the program that decided it, across a reload`()
    async throws
  {
    func rules(_ title: String) -> String {
      CardTests.rules.replacing("title: Your driver is here", with: "title: \(title)")
    }
    try await Stage.run { stage in
      let environment = try stage.environment(rules: rules("One"))
      let server = try Server(environment)
      try await stage.addRide(state: "driver_en_route")
      try await stage.settled()
      try await stage.sql("select ridepulse.emit('driver_arrived', 'r1')")
      try await stage.settled()
      _ = try stage.environment(rules: rules("Two"))
      server.hangUp()
      try await server.waitForLog("Rule files reloaded")
      try await stage.sql("select ridepulse.emit('driver_arrived', 'r1')")
      try await stage.settled()
      let hashes = try await stage.rows(
        """
        select r.rules, r.version, count(*)::text from ridepulse.ledger l
        left join ridepulse.revisions r on r.id = l.decided_by
        where l.rule = 'arrived' group by 1, 2 order by min(l.occurred_at)
        """)
      let check = try Command.ridepulse(["check"], environment)
      #expect(hashes.count == 2 && hashes.allSatisfy { $0[2] == "1" }, "\(hashes)")
      #expect(check.output.contains(hashes.last?[0] ?? "none"), "\(check.output)")
      #expect(!check.output.contains(hashes.first?[0] ?? "none"))
      let version = try Command.ridepulse(["--version"]).output
      #expect(version == "ridepulse \(hashes[0][1] ?? "")\n")
      #expect(server.stop() == 0)
      let report = try explain(stage, "r1")
      #expect(report.output.contains("\ndecided by\n"), "\(report.output)")
      #expect(report.output.matches(of: /rules [0-9a-f]{64}, ridepulse/).count == 2)
    }
  }

  @Test func `R115: without the right to record it, pushes go, and the number stays`() async throws
  {
    try await Stage.run { stage in
      try await stage.sql("alter table ridepulse.revisions add check (id = 0)")
      let server = try Server(try stage.environment(rules: CardTests.rules))
      try await stage.addRide(state: "driver_arrived")
      try await stage.settled()
      #expect(server.stop() == 0)
      #expect(server.log.matches(of: /Revision of the ledger not recorded/).count == 1)
      let report = try explain(stage, "r1")
      #expect(report.output.contains("which ridepulse.revisions does not list"), "\(report.output)")
    }
  }
}
