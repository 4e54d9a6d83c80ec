import Base
import PostgresStore
import RideCore

/// Judges what the database shows of a running service; each result appears only if something is
/// wrong.
enum LivingCheck {
  /// A node claims every 2 s; a failover of Postgres is shorter than this.
  static let longSilence: Duration = .seconds(15)
  /// How long a due ride may wait: the alert RidePulseBacklog fires from then on.
  private static let longWait: Duration = .seconds(30)
  /// The least number of phones, and their part, that are lost together.
  private static let manyPhones: (count: Int64, percent: Int64) = (20, 5)
  /// From this size on, rotation adds one day at a time.
  private static let largeDefault: Int64 = 64 << 20

  static func results(_ probes: DatabaseState) -> [CheckResult] {
    let unread = "the state of the service can't be read"
    return settlement(probes.trial)
      + probes.locks.judged("locks", else: "the sessions in the way can't be read", locks)
      + probes.living.judged("service", else: unread) { state in
        nodes(state) + NodeRulesCheck.results(state.nodes) + due(state) + pauses(state)
          + parked(state) + partitions(state) + phones(state)
      }
  }

  private static func settlement(_ trial: Probe<String?>) -> [CheckResult] {
    trial.judged("settlement", else: "it can't be tried") { failure in
      guard let failure else { return [] }
      return [
        .failure(
          "settlement",
          "one that was tried and rolled back fails: \(failure); nothing is claimed or sent",
          "fix what Postgres names; the service goes on by itself, and nothing is lost")
      ]
    }
  }

  private static func locks(_ holders: [LockHolder]) -> [CheckResult] {
    holders.map { holder in
      let session = holder.processID.map { "session \($0)" } ?? "a prepared transaction"
      let name = holder.name.isEmpty ? "" : " (\(holder.name))"
      let age = holder.age.map { ", whose transaction is \($0.rideText) old," } ?? ""
      let sql = "select pg_terminate_backend(\(holder.processID.map { "\($0)" } ?? "PID"))"
      return .warning(
        "locks", "\(session)\(name)\(age) holds up others on the tables of RidePulse",
        "as its role or a superuser: psql -c \(ShellText.word(sql)), once you know whose it is")
    }
  }

  private static func nodes(_ state: LivingState) -> [CheckResult] {
    let claiming = state.claiming
    if claiming.isEmpty, !state.nodes.isEmpty { return [noneClaims(state.nodes)] }
    return state.nodes.flatMap { node -> [CheckResult] in
      if node.sinceClaim > longSilence {
        // Its successor on the same machine, which started after it fell silent.
        if claiming.contains(where: { $0.host == node.host && $0.age <= node.sinceClaim }) {
          return []
        }
        return [
          .warning(
            "node \(node.host)", "it has not claimed for \(node.sinceClaim.rideText)",
            "if it runs, GET /readyz on it names the cause; if it was ended, nothing is to be done")
        ]
      }
      guard node.reach == .lost else { return [] }
      return [
        .warning(
          "node \(node.host)", "it can't reach APNs or FCM, or gets no answers",
          "check DNS, network, firewall and proxy of \(node.host); ridepulse doctor there tries them"
        )
      ]
    }
  }

  private static func noneClaims(_ nodes: [LivingState.Node]) -> CheckResult {
    let last = nodes.map(\.sinceClaim).min() ?? .zero
    return .failure(
      "nodes", "none claims; the last claim was \(last.rideText) ago: nothing is sent",
      "start ridepulse serve; GET /readyz of one that runs names why it does not claim")
  }

  private static func pauses(_ state: LivingState) -> [CheckResult] {
    state.pauses.all.map { pause in
      .warning(
        "paused \(pause.kind.rawValue)", pause.text,
        "ridepulse resume \(pause.kind.rawValue) \(ShellText.word(pause.name)), once its reason is "
          + "over")
    }
  }

  private static func due(_ state: LivingState) -> [CheckResult] {
    if state.dueRides == 0 { return [] }
    let what =
      "\(counted(Int(state.dueRides), "ride")) \(state.dueRides == 1 ? "is" : "are") due, "
      + "the oldest for \(state.oldestDue.rideText)"
    if state.claiming.isEmpty {
      return state.oldestDue <= longSilence
        ? []
        : [
          .warning(
            "due rides", "\(what), and no node claims",
            "start ridepulse serve; GET /readyz of one that runs names why it does not claim")
        ]
    }
    if state.oldestDue <= longWait { return [] }
    return [
      .warning(
        "due rides", what,
        "look at ridepulse_lane_paused and ridepulse_claim_failing_seconds in /metrics; "
          + "add a node where the machine is busy")
    ]
  }

  private static func parked(_ state: LivingState) -> [CheckResult] {
    if state.parkedRides == 0 { return [] }
    return [
      .warning(
        "parked rides",
        "\(counted(Int(state.parkedRides), "ride")) set aside: nothing is sent for them",
        "ridepulse unpark --all --dry-run prints the reasons; fix them, then ridepulse unpark --all"
      )
    ]
  }

  private static func partitions(_ state: LivingState) -> [CheckResult] {
    let rotate = ShellText.word("select * from \(Database.schema).rotate_ledger()")
    let remedy =
      "psql -c \(rotate) prints what it does; serve runs it each hour, and its log names a failure"
    if state.ledger.ahead == 0 {
      return [.warning("ledger", "it has no partition for tomorrow", remedy)]
    }
    guard state.ledger.defaultBytes > largeDefault else { return [] }
    let megabytes = state.ledger.defaultBytes >> 20
    return [
      .warning("ledger", "\(megabytes) MiB are in the partition of days without one", remedy)
    ]
  }

  private static func phones(_ state: LivingState) -> [CheckResult] {
    state.lostPhones.filter { lost in
      lost.count >= manyPhones.count
        && lost.count * 100 >= manyPhones.percent * (lost.count + lost.left)
    }.map { lost in
      .warning(
        "lost phones \(lost.app)",
        "\(lost.count) of \(lost.count + lost.left) phones were disabled within the last hour, "
          + "the last one for \(lost.reason)",
        "compare the app's bundle ID, environment and Firebase project with its latest build; "
          + "then ridepulse revive --app \(ShellText.word(lost.app)) --since TIME brings them back")
    }
  }
}

extension LivingState {
  /// The nodes that claim.
  var claiming: [Node] { nodes.filter { $0.sinceClaim <= LivingCheck.longSilence } }
}
