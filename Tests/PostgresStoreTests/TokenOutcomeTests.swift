import Base
import Testing
import TestSupport

@testable import PostgresStore
@testable import RideCore

/// Tests of the token outcomes that settlements record: as claims read them, and as they are
/// applied.
@Suite("Token outcomes", .timeLimit(.minutes(60))) struct TokenOutcomeTests {
  private let url: String
  private let session: PostgresSession
  private let outcomes: TokenOutcomes

  init() async throws {
    url = try await migratedDatabase()
    session = try PostgresSession(conninfo: url)
    outcomes = TokenOutcomes(session: session)
  }

  private func rows(_ sql: String) async throws -> [[String?]] {
    let result = try await session.run([direct(sql)])[0]
    return (0..<result.rowCount).map { row in
      (0..<result.columnCount).map { result.string(row, $0) }
    }
  }

  private static let observations = """
    select id, environment, refusals, quarantined_at is not null, is_probed,
      case when not is_probed then probe end, quiet_until
    """

  /// Applies random outcomes of phones: the view of the claims before must equal the table
  /// afterwards.
  @Test func `claims read a phone as if its outcomes had been applied`() async throws {
    let seed = TestSeed.value(1)
    var random = SeededGenerator(seed: seed)
    try await session.script(
      """
      insert into ridepulse.devices (app, owner_id, token, environment, refusals, probe, is_probed)
      select 'customer', 'c' || n, 't' || n, case when n % 4 = 0 then 'production' end, n % 3,
        case when n % 5 = 0 then '00000000-0000-0000-0000-000000000001'::uuid end, n % 7 = 0
      from generate_series(1, 200) n
      """)
    let pushes = ["null"] + (1...3).map { "'00000000-0000-0000-0000-00000000000\($0)'" }
    for _ in 0..<500 {
      let phone = Int.random(in: 1...200, using: &random)
      let push = pushes.randomElement(using: &random) ?? "null"
      let values =
        switch Int.random(in: 0..<6, using: &random) {
        case 0: "true, false, false, null, null, null, null"
        case 1: "false, false, false, null, \(push), null, null"
        case 2: "false, true, false, null, null, null, null"
        case 3: "false, false, true, 'sandbox', null, null, null"
        case 4: "false, false, false, null, null, \(push), null"
        default: "false, false, false, null, null, null, now() + interval '1 h'"
        }
      try await session.script(
        """
        insert into ridepulse.token_outcomes (kind, token_id, is_refused, is_good, is_probed,
          environment, probe, unprobed, quiet_until)
        select 'phone', id, \(values) from ridepulse.devices where owner_id = 'c\(phone)';
        update ridepulse.devices set registered_at = clock_timestamp(), refusals = 0, probe = null
        where owner_id = 'c\(phone % 40)'
        """)
    }
    let table = "from ridepulse.%s where id % 5 <> 0 order by id"
    // Not compared: a probe that others waited for appears a moment earlier in the view than in the
    // table.
    let columns = Self.observations.replacing("case when not is_probed then probe end,", with: "")
    let before = try await rows(columns + " " + table.replacing("%s", with: "current_devices"))
    let progress = try await outcomes.apply()
    #expect(progress.left == 0 && progress.applied == 500)
    let after = try await rows(columns + " " + table.replacing("%s", with: "devices"))
    #expect(before == after, "seed \(seed)")
    #expect(try await session.value("select count(*) from ridepulse.token_outcomes") == "0")
  }

  @Test func `one probe for all: the first push that asked may try the other environment`()
    async throws
  {
    try await session.script(
      """
      insert into ridepulse.devices (app, owner_id, token) values ('customer', 'c', 't');
      insert into ridepulse.token_outcomes (kind, token_id, probe)
      select 'phone', id, p::uuid from ridepulse.devices, unnest(array[
        '00000000-0000-0000-0000-000000000001', '00000000-0000-0000-0000-000000000002']) p
      """)
    for view in ["current_devices", "devices"] {
      #expect(
        try await session.value("select probe from ridepulse.\(view)")
          == "00000000-0000-0000-0000-000000000001", "\(view)")
      _ = try await outcomes.apply()
    }
  }

  @Test(arguments: [1, 2])
  func `only the push that may try the other environment gives that back`(number: Int) async throws
  {
    let push = "00000000-0000-0000-0000-00000000000"
    try await session.script(
      """
      insert into ridepulse.devices (app, owner_id, token, probe)
      values ('customer', 'c', 't', '\(push)1');
      insert into ridepulse.token_outcomes (kind, token_id, unprobed)
      values ('phone', 1, '\(push)\(number)')
      """)
    for view in ["current_devices", "devices"] {
      #expect(
        try await session.value("select coalesce(probe::text, '') from ridepulse.\(view)")
          == (number == 1 ? "" : "\(push)1"), "\(view)")
      _ = try await outcomes.apply()
    }
  }

  /// Since when a token is gone, when it was registered, and whether it is gone as a result.
  @Test(arguments: [
    ("now() - interval '1 h'", "now() - interval '2 h'", true),
    ("now() - interval '1 h'", "now()", false),
    ("'infinity'", "now()", true),
  ])
  func `a later registration outweighs what APNs said`(
    since: String, registered: String, isGone: Bool
  ) async throws {
    try await session.script(
      """
      insert into ridepulse.devices (app, owner_id, token, registered_at)
      values ('customer', 'c', 't', \(registered));
      insert into ridepulse.push_to_start_tokens (app, owner_id, attributes_type, token, registered_at)
      values ('customer', 'c', 'T', 't', \(registered));
      insert into ridepulse.live_activities
        (ride_id, app, owner_id, activity_id, token, registered_at)
      values ('r', 'customer', 'c', 'a', 't', \(registered));
      insert into ridepulse.channels (app, environment, bundle_id, storage, request_id)
      values ('customer', 'production', 'com.example', 'none', gen_random_uuid());
      insert into ridepulse.token_outcomes (kind, token_id, gone_reason, gone_since)
      select k, 1, 'Unregistered', \(since)
      from unnest(array['phone', 'activity', 'start', 'channel']) k
      """)
    let tables = [
      "select count(*) from ridepulse.\(isGone ? "current_devices" : "devices where disabled_at is not null")",
      "select count(*) from ridepulse.\(isGone ? "current_start_tokens" : "push_to_start_tokens where disabled_at is not null")",
    ]
    for table in tables { #expect(try await session.value(table) == "0") }
    let ended = "select ended_reason from ridepulse."
    #expect(
      try await session.value(ended + "current_live_activities") == (isGone ? "Unregistered" : nil))
    #expect(try await session.value(ended + "current_channels") == "Unregistered")
    #expect(try await outcomes.apply().applied == 4)
    #expect(
      try await session.value("select disabled_reason from ridepulse.devices")
        == (isGone ? "Unregistered" : nil))
    #expect(
      try await session.value("select disabled_reason from ridepulse.push_to_start_tokens")
        == (isGone ? "Unregistered" : nil))
    #expect(try await session.value(ended + "live_activities") == (isGone ? "Unregistered" : nil))
    #expect(try await session.value(ended + "channels") == "Unregistered")
  }

  /// Since when FCM knows a registration no more, when it was registered, and what follows.
  @Test(arguments: [
    ("now()", "now() - interval '2 h'", "android", true, 0),
    ("now()", "now() - interval '5 min'", "android", false, 1),
    ("now() - interval '1 min'", "now()", "android", false, 0),
    ("now()", "now() - interval '5 min'", "ios", true, 0),
    ("'infinity'", "now()", "android", true, 0),
  ])
  func `a young registration that FCM does not know is refused, and not gone`(
    since: String, registered: String, platform: String, isGone: Bool, refusals: Int
  ) async throws {
    try await session.script(
      """
      insert into ridepulse.devices (app, owner_id, token, platform, registered_at)
      values ('customer', 'c', 'tOKEN', '\(platform)', \(registered));
      insert into ridepulse.token_outcomes (kind, token_id, gone_reason, gone_since)
      values ('phone', 1, 'UNREGISTERED', \(since))
      """)
    let expected = isGone ? [] : ["\(refusals)"]
    #expect(try await session.rows("select refusals from ridepulse.current_devices") == expected)
    #expect(try await outcomes.apply() == .init(applied: 1))
    #expect(try await session.rows("select refusals from ridepulse.current_devices") == expected)
    #expect(
      try await session.value("select disabled_reason from ridepulse.devices")
        == (isGone ? "UNREGISTERED" : nil))
  }

  @Test func `three refusals of a young registration quarantine it until it registers again`()
    async throws
  {
    try await session.script(
      """
      select ridepulse.register_device('customer', 'c', 'x:y', platform => 'android');
      insert into ridepulse.token_outcomes (kind, token_id, gone_reason, gone_since)
      select 'phone', 1, 'UNREGISTERED', clock_timestamp() from generate_series(1, 3)
      """)
    let quarantined = "select count(*) from ridepulse.quarantine"
    #expect(try await session.value(quarantined) == "1")
    #expect(try await outcomes.apply() == .init(applied: 3))
    #expect(try await session.value(quarantined) == "1")
    try await session.script(
      "select ridepulse.register_device('customer', 'c', 'x:y', platform => 'android')")
    #expect(try await session.value(quarantined) == "0")
  }

  @Test
  func `what is locked stays, in its order, and all else is applied; doctor's words name who`()
    async throws
  {
    try await session.script(
      """
      insert into ridepulse.devices (app, owner_id, token)
      select 'customer', 'c' || n, 't' || n from generate_series(1, 1200) n;
      insert into ridepulse.token_outcomes (kind, token_id, gone_reason, gone_since, created_at)
      select 'phone', id, 'Unregistered', 'infinity', now() - interval '5 min' from ridepulse.devices;
      insert into ridepulse.token_outcomes (kind, token_id, is_refused) values ('phone', 7, true);
      insert into ridepulse.token_outcomes (kind, token_id, gone_reason, gone_since)
      values ('phone', 999999, 'of a phone that was erased', now())
      """)
    let app = try PostgresSession(conninfo: url, applicationName: "an app")
    let transaction = Task {
      try await app.script(
        """
        begin; select from ridepulse.devices where id = 7 for update;
        select pg_sleep(600); commit
        """, timeout: .seconds(600))
    }
    let sleeping = """
      select count(*) from pg_stat_activity
      where application_name = 'an app' and datname = current_database() and wait_event = 'PgSleep'
      """
    try await session.wait(until: sleeping, is: "1")
    let progress = try await outcomes.apply()
    #expect(progress == .init(applied: 1200, left: 2))
    #expect(
      try await session.value("select count(*) from ridepulse.devices where disabled_at is null")
        == "1")
    let backlog = try await TokenBacklog.read(session)
    #expect(backlog.count == 2 && (backlog.age ?? .zero) >= .seconds(300))
    #expect(backlog.blocker?.name == "an app" && backlog.blocker?.processID != nil)
    _ = try await session.value(
      "select pg_cancel_backend(pid) from pg_stat_activity where application_name = 'an app' and datname = current_database()"
    )
    _ = await transaction.result
    await app.close()
    #expect(try await outcomes.apply() == .init(applied: 2))
    #expect(try await session.value("select refusals from ridepulse.devices where id = 7") == "1")
  }

  @Test func `a table that is locked is left for later, the others are not`() async throws {
    try await session.script(
      """
      insert into ridepulse.devices (app, owner_id, token) values ('customer', 'c', 't');
      insert into ridepulse.push_to_start_tokens (app, owner_id, attributes_type, token)
      values ('customer', 'c', 'T', 't');
      insert into ridepulse.token_outcomes (kind, token_id, gone_reason, gone_since)
      values ('phone', 1, 'x', now()), ('start', 1, 'x', now())
      """)
    let app = try PostgresSession(conninfo: url, applicationName: "an app")
    let transaction = Task {
      try await app.script(
        "begin; create index on ridepulse.devices (owner_id, id); select pg_sleep(600); commit",
        timeout: .seconds(600))
    }
    try await session.wait(
      until: """
        select count(*) from pg_stat_activity
        where application_name = 'an app' and datname = current_database() and wait_event = 'PgSleep'
        """, is: "1")
    #expect(try await outcomes.apply() == .init(applied: 1, left: 1))
    #expect(try await TokenBacklog.read(session).blocker?.name == "an app")
    _ = try await session.value(
      "select pg_cancel_backend(pid) from pg_stat_activity where application_name = 'an app' and datname = current_database()"
    )
    _ = await transaction.result
    await app.close()
    #expect(try await outcomes.apply() == .init(applied: 1))
  }

  @Test func `a token that a trigger protects holds up no other`() async throws {
    try await session.script(
      """
      create function public.refuse() returns trigger language plpgsql as
        'begin raise exception ''not this one''; end';
      create trigger refuse before update on ridepulse.devices for each row when (old.id = 300)
      execute function public.refuse();
      insert into ridepulse.devices (app, owner_id, token)
      select 'customer', 'c' || n, 't' || n from generate_series(1, 700) n;
      insert into ridepulse.token_outcomes (kind, token_id, gone_reason, gone_since)
      select 'phone', id, 'x', 'infinity' from ridepulse.devices
      """)
    let progress = try await outcomes.apply()
    #expect(progress.left == 1 && progress.applied == 699, "\(progress)")
    #expect(progress.failure?.contains("not this one") == true)
  }
}
