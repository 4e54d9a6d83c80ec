import Base
import LocalStack
import PostgresStore
import RideCore
import Testing
import TestSupport

@testable import RidePulse

@Suite("The doctor's checks of a running service", .timeLimit(.minutes(60)))
struct LivingCheckTests {
  struct Case: CustomTestStringConvertible, Sendable {
    var testDescription: String
    /// The checks that warn, with a part of their text.
    var warnings: [[String]]
    var change: @Sendable (inout LivingState) -> Void

    init(
      _ name: String, _ warnings: [[String]],
      _ change: @escaping @Sendable (inout LivingState) -> Void
    ) {
      (testDescription, self.warnings, self.change) = (name, warnings, change)
    }
  }

  private static let claiming = LivingState.Node(host: "a", sinceClaim: .seconds(2))

  private static func deciding(
    _ host: String, _ rules: String, for seconds: Int, silentFor silence: Int = 1
  ) -> LivingState.Node {
    var node = LivingState.Node(host: host, sinceClaim: .seconds(silence))
    (node.rules, node.sinceRules) = (rules, .seconds(seconds))
    return node
  }

  private static func due(_ state: inout LivingState, for age: Duration) {
    (state.dueRides, state.oldestDue) = (3, age)
  }

  private static let cases = [
    Case("nothing runs and nothing is due", []) { _ in },
    Case("all is well", []) {
      $0.nodes = [claiming]
      due(&$0, for: .seconds(29))
    },
    Case(
      "rides wait although a node claims", [["due rides", "3 rides are due, the oldest for 31s"]]
    ) {
      $0.nodes = [claiming]
      due(&$0, for: .seconds(31))
    },
    Case("no node claims", [["due rides", "and no node claims"]]) {
      due(&$0, for: .seconds(16))
    },
    Case("a node that ended, and another one", [["node b", "it has not claimed for 16s"]]) {
      $0.nodes = [claiming, .init(host: "b", sinceClaim: .seconds(16), reach: .lost)]
      due(&$0, for: .seconds(16))
    },
    Case("a node that was started again on the same machine", []) {
      var successor = claiming
      successor.age = .seconds(20)
      $0.nodes = [successor, .init(host: "a", sinceClaim: .seconds(21))]
    },
    Case("a node that hangs next to an older one", [["node a", "not claimed for 21s"]]) {
      var older = claiming
      older.age = .seconds(22)
      $0.nodes = [older, .init(host: "a", sinceClaim: .seconds(21))]
    },
    Case("a node that is aside", [["node b", "can't reach APNs or FCM"]]) {
      $0.nodes = [claiming, .init(host: "b", sinceClaim: .seconds(1), reach: .lost)]
    },
    Case("a release that reaches one node after the other", []) {
      $0.nodes = [deciding("a", "0123456789abcdef", for: 3600), deciding("b", "ff", for: 59)]
    },
    Case("nodes with the same rules", []) {
      $0.nodes = [deciding("a", "0123456789abcdef", for: 3600)]
      $0.nodes.append(deciding("b", "0123456789abcdef", for: 61))
      // It ended with other rules.
      $0.nodes.append(deciding("c", "ff", for: 3600, silentFor: 14))
      $0.nodes[2].rules = nil
    },
    Case("nodes with different rules", [["rules of nodes", "a 0123456789ab, b ff"]]) {
      $0.nodes = [deciding("a", "0123456789abcdef", for: 3600), deciding("b", "ff", for: 61)]
    },
    Case("a node that ended with other rules", [["node b", "not claimed"]]) {
      $0.nodes = [
        deciding("a", "0123456789abcdef", for: 3600), deciding("b", "ff", for: 61, silentFor: 16),
      ]
    },
    Case("a node that refused its files", [["rules of a", "a 0123456789ab: a.yaml:3:1: no"]]) {
      $0.nodes = [deciding("a", "0123456789abcdef", for: 3)]
      $0.nodes[0].rulesProblem = "a.yaml:3:1: no"
    },
    Case("a node that refused its files and is gone", [["node a", "not claimed"]]) {
      $0.nodes = [
        deciding("a", "0123456789abcdef", for: 90, silentFor: 16),
        deciding("b", "0123456789abcdef", for: 90),
      ]
      $0.nodes[0].rulesProblem = "a.yaml:3:1: no"
    },
    Case("nodes that all fell silent", [["nodes", "the last claim was 16s ago"]]) {
      $0.nodes = [
        .init(host: "a", sinceClaim: .seconds(16)), .init(host: "b", sinceClaim: .seconds(90)),
      ]
    },
    Case("a pause", [["paused app", "app driver until 1970-01-01T00:01:00Z by eve"]]) {
      let (start, end) = (Timestamp(epochSeconds: 0), Timestamp(epochSeconds: 60))
      $0.pauses = Pauses([Pause(.app, "driver", until: end, since: start, author: "eve")])
    },
    Case("parked rides", [["parked rides", "1 ride set aside"]]) { $0.parkedRides = 1 },
    Case("no day ahead", [["ledger", "no partition for tomorrow"]]) { $0.ledger.ahead = 0 },
    Case("a large default partition", [["ledger", "65 MiB"]]) { $0.ledger.defaultBytes = 65 << 20 },
    Case("phones lost together", [["lost phones driver", "27 of 100 phones"]]) {
      $0.lostPhones = [
        .init(app: "customer", reason: "Unregistered", count: 19, left: 1),
        .init(app: "driver", reason: "BadDeviceToken", count: 27, left: 73),
      ]
    },
    Case("a usual loss", []) {
      $0.lostPhones = [.init(app: "customer", reason: "Unregistered", count: 40, left: 960)]
    },
  ]

  @Test(arguments: cases) func `a result appears only if something is wrong`(example: Case) {
    var state = LivingState()
    example.change(&state)
    var probes = DatabaseState()
    probes.living = .known(state)
    probes.locks = .known([])
    probes.trial = .known(nil)
    let results = LivingCheck.results(probes)
    #expect(results.map(\.name) == example.warnings.map { $0[0] })
    for (result, warning) in zip(results, example.warnings) {
      let standing: CheckResult.Standing = result.name == "nodes" ? .failure : .warning
      #expect(result.standing == standing && result.remedy.count == 1)
      #expect(result.what.contains(warning[1]), "\(result.what)")
    }
  }

  @Test func `a settlement that fails and a session in the way are named`() {
    var probes = DatabaseState()
    probes.trial = .known("53100: could not extend file: No space left on device")
    probes.locks = .known([LockHolder(processID: 42, name: "psql", age: .seconds(75))])
    let results = LivingCheck.results(probes)
    #expect(results.map(\.name) == ["settlement", "locks"])
    #expect(results.map(\.standing) == [.failure, .warning])
    #expect(results.first?.what.contains("No space left on device") == true)
    #expect(results.last?.what.contains("session 42 (psql)") == true)
    #expect(results.last?.remedy.first?.contains("pg_terminate_backend(42)") == true)
  }

  @Test func `it finds what is wrong in a database, and nothing in one that is well`()
    async throws
  {
    try await Stage.run { stage in
      let names: Set = ["settlement", "locks", "due rides", "parked rides", "ledger", "service"]
      let well = try Checkup(stage.environment)
      #expect(names.isDisjoint(with: well.checks.map(\.name)), "\(well)")
      try await stage.addRide()
      try await stage.sql(
        """
        select count(*) from ridepulse.rotate_ledger();
        create function public.refuse() returns trigger language plpgsql as $$
        begin raise exception 'the auditor refuses'; end $$;
        create trigger refuse before insert on ridepulse.ledger for each row
        execute function public.refuse();
        insert into ridepulse.agenda (ride_id, fence, leased_until, parked_reason, parked_at)
        values ('r1', 1, 'infinity', 'a test', now())
        on conflict (ride_id) do update set leased_until = excluded.leased_until,
          parked_reason = excluded.parked_reason, parked_at = excluded.parked_at;
        insert into ridepulse.agenda (ride_id, due_at, fence, leased_until)
        values ('late', now() - interval '1 minute', 1, now() - interval '1 minute')
        """)
      let ill = try Checkup(stage.environment)
      ill.expect("settlement", "failure", "the auditor refuses")
      ill.expect("parked rides", "warning", "ridepulse unpark --all")
      ill.expect("due rides", "warning", "no node claims")
      // A settlement waits for it, too.
      let lock = try await OpenTransaction(stage, "lock table ridepulse.rides")
      let held = try Checkup(stage.environment)
      held.expect("locks", "warning", "pg_terminate_backend")
      try await lock.commit()
    }
  }

  @Test func `a settlement on trial leaves nothing`() async throws {
    try await Stage.run { stage in
      let session = try PostgresSession(conninfo: stage.conninfo)
      let failure = await TrialSettlement.failure(session)
      #expect(failure == nil)
      await session.close()
      for table in ["agenda", "ledger", "events"] {
        #expect(try await stage.value("select count(*) from ridepulse.\(table)") == "0")
      }
    }
  }
}
