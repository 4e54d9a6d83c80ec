import PushClient
import RideCore
import Testing

@testable import PostgresStore
@testable import RidePulse

/// Tests of checks on given probe results, including results that no test can cause.
@Suite("Checks of given probe results", .timeLimit(.minutes(60))) struct DoctorCheckTests {
  /// Returns the probe results of a healthy Postgres, with changes.
  private static func database(_ change: (inout DatabaseState) -> Void) -> DatabaseState {
    var probes = DatabaseState()
    probes.server = .known(server())
    probes.schema = .known(.current)
    probes.rights = .known(RightsReport(missing: []))
    probes.listen = .known(.effective)
    probes.lead = .known(.milliseconds(-3))
    probes.holder = .known(nil)
    probes.phones = .known([])
    change(&probes)
    return probes
  }

  private static func server(isTooOld: Bool = false, isReadOnly: Bool = false) -> ServerState {
    ServerState(
      version: "15.18", isTooOld: isTooOld, database: "rides", role: "engine",
      isReadOnly: isReadOnly, hasSchema: true, mayMakeSchema: false)
  }

  private static func replication(
    names: String, commit: String, timeline: Int64 = 1
  ) -> ReplicationState {
    ReplicationState(timeline: timeline, standbys: 1, synchronousNames: names, commit: commit)
  }

  private static func waiting(_ age: Duration, pid: Int32?) -> TokenBacklog {
    TokenBacklog(
      count: 3, age: age, blocker: LockHolder(processID: pid, name: "the app", age: age))
  }

  @Test func `Limits and locks that block nothing are not mentioned`() {
    var server = Self.server()
    server.statementLimit = .seconds(30)
    let probes = Self.database {
      $0.server = .known(server)
      $0.outcomes = .known(Self.waiting(.seconds(59), pid: 71))
    }
    #expect(LimitCheck.results(probes).isEmpty)
  }

  private static func holder(
    _ kind: BlockingBackend.Kind, _ name: String, age: Duration?, transactions: Int64 = 5
  ) -> BlockingBackend {
    BlockingBackend(
      kind: kind, processID: kind == .session ? 71 : nil, name: name, age: age,
      transactions: transactions)
  }

  private static func dead(_ count: Int64, vacuumed: Duration? = nil) -> DeadRows {
    DeadRows(table: "agenda", dead: count, live: 500, vacuumAge: vacuumed)
  }

  /// Probe results, the check's name, its standing, and a part of its text or of its fix.
  private static let databases: [(DatabaseState, String, CheckResult.Standing, String)] = [
    (database { _ in }, "postgres", .ok, "15.18, database rides, role engine"),
    (database { $0.server = .known(server(isTooOld: true)) }, "postgres", .failure, "Postgres 14"),
    (
      database { $0.server = .known(server(isReadOnly: true)) }, "postgres", .failure,
      "DATABASE_URL to the primary"
    ),
    (
      database { $0.server = .failed("FATAL: password authentication failed for user \"x\"") },
      "postgres", .failure, "fix user and password"
    ),
    (
      database { $0.server = .failed("FATAL: no pg_hba.conf entry for host \"10.0.0.1\"") },
      "postgres", .failure, "allow this role from this address"
    ),
    (
      database { $0.server = .failed("FATAL: sorry, too many clients already") }, "postgres",
      .failure, "raise max_connections"
    ),
    (
      database {
        var server = server()
        server.statementLimit = .milliseconds(60)
        $0.server = .known(server)
      }, "statement timeout", .warning, "role engine has statement_timeout = 60ms"
    ),
    (
      database { $0.outcomes = .known(waiting(.seconds(75), pid: 71)) }, "token outcomes", .warning,
      "session 71 (the app) has rows or a table locked, open for 1m15s"
    ),
    (
      database { $0.outcomes = .known(waiting(.seconds(75), pid: nil)) }, "token outcomes",
      .warning,
      "commit prepared 'the app'"
    ),
    (database { $0.lead = .known(.seconds(5)) }, "clock", .ok, "agree"),
    (
      database { $0.lead = .known(.seconds(6)) }, "clock", .warning,
      "Postgres is 6s ahead of this machine"
    ),
    (
      database { $0.lead = .known(.seconds(-61)) }, "clock", .failure,
      "Postgres is 1m1s behind this machine"
    ),
    (database { $0.lead = .failed("lost") }, "clock", .warning, "lost"),
    (
      database { $0.holder = .known(holder(.session, "a report", age: .seconds(299))) },
      "dead rows", .ok, "4m59s"
    ),
    (
      database { $0.holder = .known(holder(.session, "a report", age: .seconds(300))) },
      "dead rows", .warning, "select pg_terminate_backend(71)"
    ),
    (
      database { $0.holder = .known(holder(.prepared, "it's", age: .seconds(3_600))) },
      "dead rows", .warning, "rollback prepared 'it''s'"
    ),
    (
      database { $0.holder = .known(holder(.slot, "old", age: nil, transactions: 999_999)) },
      "dead rows", .ok, "replication slot old"
    ),
    (
      database { $0.holder = .known(holder(.slot, "old", age: nil, transactions: 1_000_000)) },
      "dead rows", .warning, "pg_drop_replication_slot('old')"
    ),
    (
      database { $0.deadRows = .known(dead(4999)) }, "dead rows", .ok,
      "nothing prevents their removal"
    ),
    (
      database { $0.deadRows = .known(dead(5000)) }, "dead rows", .warning,
      "ridepulse.agenda has 5000 dead rows, 500 others, and was never vacuumed: autovacuum is off, "
    ),
    (
      database { $0.deadRows = .known(dead(5000, vacuumed: .seconds(299))) }, "dead rows", .ok,
      "nothing prevents their removal"
    ),
    (
      database { $0.deadRows = .known(dead(1_000_000, vacuumed: .seconds(60))) }, "dead rows",
      .warning, "psql -c 'vacuum (verbose) ridepulse.agenda'"
    ),
    (
      // The age of another role's session is hidden.
      database {
        $0.holder = .known(holder(.session, "a report", age: nil))
        $0.deadRows = .known(dead(5000))
      },
      "dead rows", .warning, "select pg_terminate_backend(71)"
    ),
    (
      database { $0.pin = .known([PinProblem(kind: .server, pinned: "7a", found: "6b")]) }, "pin",
      .failure, "select ridepulse.pin()"
    ),
    (
      database {
        $0.pin = .known([PinProblem(kind: .site, pinned: "production", found: "staging")])
      }, "pin", .failure, "RIDEPULSE_SITE variables of this service"
    ),
    (
      database {
        $0.listening = .over("host=other")
        $0.listen = .known(.otherDatabase("OID 5 of server 7a"))
      }, "listen", .failure, "behind DATABASE_URL"
    ),
    (
      database {
        $0.listening = .over("host=other")
        $0.listen = .known(.unreachable("refused"))
      }, "listen", .failure, "or unset it"
    ),
    (
      database {
        $0.listening = .over("host=other")
        $0.listen = .failed("no answer in 14s")
      }, "listen", .failure, "no answer in 14s"
    ),
    (database { $0.listen = .failed("lost") }, "listen", .failure, "failed: lost"),
    (
      database {
        $0.listening = .over("host=pool")
        $0.listen = .known(.swallowed)
      }, "listen", .warning, "point RIDEPULSE_LISTEN to Postgres itself"
    ),
    (
      database { $0.replication = .known(replication(names: "", commit: "on")) }, "standbys",
      .warning, "synchronous_standby_names is empty"
    ),
    (
      database { $0.replication = .known(replication(names: "*", commit: "local")) }, "standbys",
      .warning, "synchronous_commit is local"
    ),
    (
      database { $0.replication = .known(replication(names: "*", commit: "on", timeline: 3)) },
      "failovers", .ok, "2 times"
    ),
    (
      database { $0.mayReachStandby = true }, "hosts", .warning, "target_session_attrs"
    ),
    (
      database { $0.listen = .known(.unreachable("too many clients")) }, "listen", .failure,
      "max_connections"
    ),
    (
      database {
        $0.rights = .known(RightsReport(missing: [MissingRight("execute", on: "f", loss: "x")]))
      },
      "rights", .warning, "grant execute on f to \"engine\""
    ),
    (
      database {
        $0.rights = .known(
          RightsReport(
            missing: ["select", "update"].map { MissingRight($0, on: "ridepulse.devices") }))
      }, "rights", .failure, "grant select, update on ridepulse.devices to \"engine\""
    ),
  ]

  @Test(arguments: databases.indices)
  func `Probe results of Postgres give these results`(index: Int) throws {
    let (probes, name, standing, words) = Self.databases[index]
    try Self.expect(DatabaseCheck.results(probes), name, standing, words)
  }

  private static func apns(
    _ outcome: PushOutcome?, lead: Duration? = nil, problem: ConnectivityFailure? = nil,
    hasCAFile: Bool = false
  ) -> APNsState {
    var probes = APNsState()
    probes.settings = .known("")
    probes.bundleIDs = [.customer: "com.example.customer"]
    probes.credentials = CredentialState(keys: [
      KeyState(path: "key.p8", keyID: "ABC123DEFG", teamID: "DEF123GHIJ")
    ])
    probes.hasCAFile = hasCAFile
    var state = APNsState.EnvironmentState(
      environment: .production, endpoint: "https://api.push.apple.com:443", problem: problem)
    state.answers[.init(app: .customer)] = outcome.map {
      APNsState.Answer(outcome: $0, credential: "key ABC123DEFG")
    }
    state.lead = lead
    probes.environments = [state]
    return probes
  }

  private static func refused(_ status: Int, _ reason: String?) -> PushOutcome {
    .refused(Refusal(status: status, reason: reason))
  }

  private static let push = "push production customer"
  private static let connection = "connection production"

  private static let services: [(APNsState, String, CheckResult.Standing, String)] = [
    (apns(.accepted), push, .ok, "not Apple's APNs"),
    (apns(refused(400, "BadDeviceToken")), push, .ok, "key ABC123DEFG and topic"),
    (apns(refused(410, "Unregistered")), push, .ok, "Unregistered"),
    (apns(refused(400, "TopicDisallowed")), push, .failure, "APNS_CUSTOMER_BUNDLE_ID"),
    (apns(refused(400, "DeviceTokenNotForTopic")), push, .failure, "APNS_CUSTOMER_BUNDLE_ID"),
    (apns(refused(400, "BadTopic")), push, .failure, "APNS_CUSTOMER_BUNDLE_ID"),
    (apns(refused(403, "InvalidProviderToken")), push, .failure, "APNS_TEAM_ID"),
    (
      apns(refused(403, "BadEnvironmentKeyIdInToken")), push, .failure,
      "APNS_CUSTOMER_SANDBOX_KEY_ID"
    ),
    (apns(refused(403, "TopicMismatch")), push, .failure, "APNS_CUSTOMER_CERTIFICATE_PATH"),
    (apns(refused(403, "Forbidden")), push, .failure, "APNS_CUSTOMER_KEY_ID"),
    (apns(refused(403, "BadCertificate")), push, .failure, "page Certificates"),
    (apns(refused(403, "ExpiredProviderToken")), push, .failure, "timedatectl"),
    (apns(refused(429, "TooManyRequests")), push, .warning, "busy"),
    (apns(refused(502, nil)), push, .warning, "502 no reason"),
    (apns(refused(403, nil)), push, .failure, "403 no reason"),
    (apns(.unanswered(.timeout)), push, .failure, "no answer in time"),
    (apns(.unanswered(.connectionLost("gone"))), push, .failure, "gone"),
    (apns(.unsent(.noConnection("refused"))), push, .failure, "refused"),
    (
      apns(.unsent(.turnedAway(Refusal(status: 403, reason: "ExpiredProviderToken")))), push,
      .failure, "a clock is wrong"
    ),
    (apns(nil), push, .failure, "no push could be sent"),
    (apns(.accepted, lead: .seconds(-5)), "clock production", .ok, "agree"),
    (apns(.accepted, lead: .seconds(-9)), "clock production", .warning, "9s behind this machine"),
    (apns(.accepted, lead: .seconds(90)), "clock production", .failure, "1m30s ahead"),
    (apns(.unanswered(.timeout)), "clock production", .skipped, "an answer from APNs"),
    (apns(nil, problem: ConnectivityFailure(.unreachable, "x")), connection, .failure, "firewall"),
    (
      apns(nil, problem: ConnectivityFailure(.untrusted, "x")), connection, .failure,
      "ca-certificates"
    ),
    (
      apns(nil, problem: ConnectivityFailure(.untrusted, "x"), hasCAFile: true), connection,
      .failure,
      "APNS_CA_FILE contains the CA"
    ),
    (apns(nil, problem: ConnectivityFailure(.noHTTP2, "x")), connection, .failure, "support h2"),
    (apns(nil, problem: ConnectivityFailure(.badAuthorities, "x")), connection, .failure, "PEM"),
  ]

  @Test(arguments: services.indices)
  func `Probe results of APNs give these results`(index: Int) throws {
    let (probes, name, standing, words) = Self.services[index]
    try Self.expect(APNsCheck.results(probes), name, standing, words)
  }

  private static let directories:
    [(RuleState, Probe<[PhoneCount]>, String, CheckResult.Standing, String)] =
      [
        (RuleState(problems: ["a:1:1: x", "b"]), .unasked, "rule files", .failure, "(and 1 more)"),
        (RuleState(advice: ["slow"]), .unasked, "rule files", .warning, "slow"),
        (RuleState(apps: [.driver]), .unasked, "topic driver", .failure, "APNS_DRIVER_BUNDLE_ID"),
        (RuleState(), .unasked, "phones", .skipped, "schema"),
        (RuleState(), .failed("lost"), "phones", .failure, "lost"),
        (RuleState(), .known([]), "phones", .warning, "register_device('customer'"),
        (
          RuleState(),
          .known([
            PhoneCount(app: .customer, environment: nil, live: 2),
            PhoneCount(app: .customer, environment: .sandbox, live: 3, quarantined: 1),
          ]), "phones customer", .warning, "2 production, 3 sandbox, 1 of them in quarantine"
        ),
        (
          RuleState(), .known([PhoneCount(app: .driver, environment: .production, live: 7)]),
          "phones driver", .warning, "no bundle ID"
        ),
      ]

  @Test func `R60: a wrong receiver of posts fails, and its secret is not shown`() throws {
    let variables = [
      "RIDEPULSE_POST_SMS_URL": "https://example.com/", "RIDEPULSE_POST_SMS_SECRET": "geheim",
    ]
    let results = RuleCheck.results(
      RuleState(variables), bundleIDs: [:], phones: .unasked, standard: .production)
    try Self.expect(results, "receivers", .failure, "RIDEPULSE_POST_SMS_SECRET: expected whsec_")
    #expect(!"\(results)".contains("geheim"))
  }

  @Test(arguments: directories.indices)
  func `Rules and phones give these results`(index: Int) throws {
    let (probes, phones, name, standing, words) = Self.directories[index]
    let results = RuleCheck.results(
      probes, bundleIDs: [.customer: "com.example.customer"], phones: phones, standard: .production)
    try Self.expect(results, name, standing, words)
  }

  private static func expect(
    _ results: [CheckResult], _ name: String, _ standing: CheckResult.Standing, _ words: String
  ) throws {
    let result = try #require(results.first { $0.name == name })
    #expect(result.standing == standing, "\(result)")
    #expect(([result.what] + result.remedy).contains { $0.contains(words) }, "\(result)")
    for result in results {
      let isBad = [.failure, .warning].contains(result.standing)
      #expect(isBad == !result.remedy.isEmpty, "\(result)")
    }
  }

  @Test func `The table has a line for each, and colours only on a terminal`() {
    let diagnosis = Diagnosis(results: [
      .ok("a", "fine"), .warning("longer", "slow", "hurry"), .skipped("c", needs: "a"),
    ])
    #expect(diagnosis.status == .done)
    let text = """
      OK       a       fine
      WARNING  longer  slow
               do: hurry
      SKIPPED  c       needs a

      OK, with 1 warning, 1 skipped
      """
    #expect(DoctorTable(diagnosis: diagnosis, hasColour: false).text == text)
    let coloured = DoctorTable(diagnosis: diagnosis, hasColour: true).text
    #expect(coloured.contains("\u{1b}[33mWARNING  \u{1b}[0mlonger"))
    let failed = Diagnosis(results: diagnosis.results + [.failure("d", "gone", "find it")])
    #expect(failed.status == .foundProblems)
    #expect(
      DoctorTable(diagnosis: failed, hasColour: false).text
        .hasSuffix("\n\n1 failure, 1 warning, 1 skipped"))
  }

  @Test func `A probe that exceeds its limit is abandoned`() async {
    let probe = await Probe<Int>.find(within: .milliseconds(1)) {
      // Nothing ends this work: it never checks for cancellation.
      unsafe await withUnsafeContinuation { (_: UnsafeContinuation<Int, Never>) in }
    }
    guard case .failed(let why) = probe else {
      Issue.record("\(probe)")
      return
    }
    #expect(why.contains("no answer"))
  }
}
