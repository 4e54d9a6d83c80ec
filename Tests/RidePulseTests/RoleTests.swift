import Foundation
import LocalStack
import PostgresStore
import RideCore
import TestSupport
import Testing

/// Runs the commands under the roles that `migrate --roles` creates.
@Suite(.timeLimit(.minutes(60))) struct RoleTests {
  /// Passes the environment of a new login with these rights, which is removed afterwards.
  private func withLogin(
    _ stage: Stage, _ grant: (String) async throws -> Void,
    _ body: ([String: String]) async throws -> Void
  ) async throws {
    let login = "login_\(UUID().uuidString.prefix(8).lowercased())"
    try await stage.sql("create role \(login) login")
    try await grant(login)
    try await body(
      stage.environment.merging([
        "DATABASE_URL": stage.conninfo.replacing("user=postgres", with: "user=\(login)")
      ]) { $1 })
    try await stage.sql("drop owned by \(login); drop role \(login)")
  }

  private func makeRoles(_ stage: Stage) throws {
    let made = try Command.ridepulse(["migrate", "--roles"], ["DATABASE_URL": stage.conninfo])
    #expect(made.status == 0 && made.output.contains("ridepulse_reader have their rights"))
  }

  /// Runs a command and expects that it needs no other right.
  private func expectSuccess(_ words: [String], _ environment: [String: String]) throws {
    let result = try Command.ridepulse(words, environment)
    #expect(
      result.status == 0 && !(result.output + result.errors).contains("permission denied"),
      "\(words): \(result)")
  }

  /// Runs every command that needs the database, except `migrate` and `forget`.
  private func expectEveryCommand(_ stage: Stage, _ environment: [String: String]) async throws {
    try Checkup(environment).expect("rights", "ok", "every command")
    try await stage.addRide()
    try await stage.sql(
      """
      create table public.bookings (id text primary key, status text);
      insert into public.bookings values ('b1', 'requested');
      grant select on public.bookings to public;
      select ridepulse.watch('public.bookings',
        '{"id": {"column": "id", "prefix": "b-"}, "state": "status"}');
      """)
    let payload = stage.directory + "/payload.json"
    try Data(#"{"aps": {"event": "end"}}"#.utf8).write(to: URL(fileURLWithPath: payload))
    for words in [
      ["push", "--app", "customer", "--token", Stage.customerToken, "--payload", payload],
      ["broadcast", "YQ==", "--app", "customer", "--payload", payload],
      ["backfill", "public.bookings"], ["trigger", "eta_changed", "--ride", "r1", "--dry-run"],
      ["trigger", "driver_nearby", "--ride", "r1"], ["serve", "--once"], ["explain", "r1"],
      ["explain", "r1", "--format", "json"], ["preview", "--for", "1h"],
      ["channels", "list", "--app", "customer"],
      ["channels", "create", "--app", "customer", "--ride", "r1", "--storage", "latest"],
      ["channels", "reconcile", "--app", "customer"], ["migrate", "--dry-run"],
      ["unpark", "--all"], ["unquarantine", "--all"],
      ["revive", "--app", "customer", "--since", "2024-11-21T00:00:00Z", "--yes"],
      ["export", "--from", "2024-11-21", "--to", "2024-11-21", "--output", stage.directory],
      ["nodes"], ["hold", "--reason", "a drill", "--yes"], ["release", "--yes"],
      ["pause", "rule", "eta", "--for", "1m"], ["resume", "rule", "eta"],
      ["discard", "storm", "--since", "2026-01-01T00:00:00Z", "--yes"],
    ] {
      try expectSuccess(words, environment)
    }
    let accepted = "select count(*) > 0 from ridepulse.ledger where status = 'accepted'"
    #expect(try await stage.value(accepted) == "t")
    let gateway = try Server(
      environment, ["--app", "customer", "--port", "0", "--feedback-port", "0"],
      command: "legacy-gateway")
    #expect(gateway.stop() == 0 && !gateway.log.contains("permission denied"), "\(gateway.log)")
    try await expectHTTP(environment)
  }

  private func expectHTTP(_ environment: [String: String]) async throws {
    let (server, api) = try await APIClient.serve(environment)
    defer { server.stop() }
    let answers = [
      try api.send("PUT", "/v1/rides/r2", #"{"state": "requested"}"#, key: "k"),
      try api.post("/v1/events", #"{"event": "eta_changed", "ride_id": "r2"}"#),
      try api.post("/v1/contact", #"{"app": "customer", "owner_id": "c1"}"#),
      try api.post(
        "/v1/push", #"{"app": "customer", "token": "\#(Stage.customerToken)", "payload": {}}"#),
      try api.send("DELETE", "/v1/devices/customer/\(Stage.customerToken)", nil),
      try api.get("/v1/rides/r1/explain"), try api.get("/v1/deliveries"),
    ]
    for answer in answers { #expect((200...201).contains(answer.status), "\(answer)") }
    #expect(try api.get("/metrics").text.contains("ridepulse_rides_parked 0"))
    #expect(!server.log.contains("permission denied"), "\(server.log)")
    #expect(!server.log.contains("superuser"))
  }

  @Test func `R80: every command runs as a member of ridepulse_engine`() async throws {
    try await Stage.run { stage in
      try makeRoles(stage)
      try await withLogin(stage) { login in
        try await stage.sql("grant ridepulse_engine to \(login)")
      } _: { environment in
        try await expectEveryCommand(stage, environment)
      }
    }
  }

  @Test func `R80: the grants that doctor prints are enough for every command`() async throws {
    try await Stage.run { stage in
      try await withLogin(stage) { _ in
      } _: { environment in
        let poor = try Checkup(environment)
        let remedy = try #require(poor.checks.first { $0.name == "rights" }?.remedy.first)
        let grants = try #require(remedy.components(separatedBy: "psql -c '").last?.dropLast())
        try await stage.sql(String(grants))
        try await expectEveryCommand(stage, environment)
      }
    }
  }

  @Test
  func `R80: a member of ridepulse_reader explains, previews and diagnoses, and emits nothing`()
    async throws
  {
    try await Stage.run { stage in
      try makeRoles(stage)
      try await stage.addRide()
      try await withLogin(stage) { login in
        try await stage.sql("grant ridepulse_reader to \(login)")
      } _: { environment in
        let checkup = try Checkup(environment)
        checkup.expect("rights", "ok", "serve needs those of ridepulse_engine")
        checkup.expect("phones customer", "ok")
        for words in [
          ["trigger", "eta_changed", "--ride", "r1", "--dry-run"], ["explain", "r1"],
          ["explain", "r1", "--format", "json"], ["preview", "--for", "1h"], ["nodes"],
        ] {
          try expectSuccess(words, environment)
        }
        for words in [
          ["trigger", "eta_changed", "--ride", "r1"], ["serve", "--once"], ["hold", "--yes"],
          ["pause", "app", "driver"],
        ] {
          let refused = try Command.ridepulse(words, environment)
          #expect(refused.status == 1, "\(words): \(refused)")
          #expect(refused.errors.contains("permission denied"), "\(words): \(refused)")
          // A start of serve names doctor.
          let advice = words[0] == "serve" ? "doctor" : "'grant ridepulse_engine to LOGIN'"
          #expect(refused.errors.contains(advice), "\(refused)")
        }
        #expect(
          try await stage.value("select string_agg(event, ' ') from ridepulse.events")
            == "requested")
      }
    }
  }

  @Test(arguments: [
    ["explain", "r1"], ["preview"], ["nodes"],
    ["export", "--from", "2024-11-21", "--to", "2024-11-21", "--output", "/var/empty"],
  ])
  func `a login without rights is told which role to grant`(words: [String]) async throws {
    try await Stage.run { stage in
      try await withLogin(stage) { _ in
      } _: { environment in
        let refused = try Command.ridepulse(words, environment)
        #expect(refused.status == 1)
        #expect(refused.errors.contains("'grant ridepulse_reader to LOGIN'"), "\(refused)")
      }
    }
  }

  @Test func `a superuser is warned of the schema that it owns, and of no other's`() async throws {
    try await Stage.run { stage in
      let environment = ["DATABASE_URL": stage.conninfo]
      func warned() throws -> Bool {
        let made = try Command.ridepulse(["migrate", "--roles"], environment)
        #expect(made.status == 0, "\(made)")
        return made.errors.contains("is a superuser")
      }
      #expect(try warned())
      try await withLogin(stage) { login in
        try await stage.sql("alter schema ridepulse owner to \(login)")
      } _: { _ in
        #expect(try !warned())
        try await stage.sql("alter schema ridepulse owner to postgres")
      }
    }
  }

  @Test func `R80: a dry run prints SQL that makes the same roles`() async throws {
    try await Stage.run { stage in
      try await withLogin(stage) { _ in
      } _: { environment in
        let plain = environment["DATABASE_URL"].map { ["DATABASE_URL": $0] } ?? [:]
        try makeRoles(stage)
        try await stage.sql("drop owned by ridepulse_app, ridepulse_engine, ridepulse_reader")
        let owner = ["DATABASE_URL": stage.conninfo]
        let printed = try Command.ridepulse(["migrate", "--roles", "--dry-run"], owner)
        #expect(printed.status == 0 && printed.output.hasPrefix("-- the schema is current\n"))
        let granted = "select has_table_privilege('ridepulse_engine', 'ridepulse.agenda', 'delete')"
        #expect(try await stage.value(granted) == "f", "a dry run changes nothing")
        try await stage.sql(printed.output)
        #expect(try await stage.value(granted) == "t")
        // Who may not grant is told what to do.
        let refused = try Command.ridepulse(["migrate", "--roles"], plain)
        #expect(refused.status == 1, "\(refused)")
      }
    }
  }
}
