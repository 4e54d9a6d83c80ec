import Base
import LocalStack
import RideCore

/// The command line of `ridepulse-chaos`.
struct ChaosOptions {
  /// How long faults are injected.
  var duration: Duration = .seconds(600)
  /// The seed of all random numbers.
  var seed = UInt64.random(in: 0...UInt64(Int64.max))
  /// The number of rides that are live at one time.
  var rides = 150
  /// The faults to leave out, to narrow down the cause of a violation.
  var without: Set<Part> = []
  /// Starts with a full NOTIFY queue of 8 GB, instead of one that is only above the engine's
  /// threshold.
  var fillsNotifyQueue = false
  /// Keeps the files of the run even if every invariant held.
  var keeps = false
  var wantsHelp = false
  /// The binary of an earlier release: the run upgrades from it and goes back.
  var previous: String?
  /// A `ridepulse` of a debug build, which the nodes run: only there a ride can crash or stall its
  /// decision.
  var debugBuild: String?
  /// Fails Postgres over, instead of injecting other faults.
  var failovers: Failovers?

  /// A run that fails Postgres over.
  struct Failovers: Equatable {
    /// How often the primary is killed.
    var count = 10
    var replication = Replication.synchronous
    /// The number of `serve` processes.
    var nodes = 2
  }

  /// A fault that can be left out.
  enum Part: String, CaseIterable, Sendable {
    case kill, pause, restart, faults, clock, starts
    case refusal, disk, locks, notify, rights, crowd, burst, reassign
    case decisions, hour, handover, triggers, locales, android, outage
  }

  static let help = """
    Usage: ridepulse-chaos [--for DURATION] [--seed N] [--rides N]
                           [--without PART]... | [--only PART]... [--debug-build PATH]
                           [--full-notify-queue] [--previous PATH] [--keep]
           ridepulse-chaos --failovers N [--replication MODE] [--nodes 1|2]
                           [--seed N] [--rides N] [--keep]
      --for DURATION       how long faults are injected: 60s, 10m (default 10m)
      --seed N             of all random numbers; printed at the start
      --rides N            rides that are live at one time (default 150)
      --without PART       leave out one of
                             kill, pause, restart   of nodes, of nodes, of Postgres
                             faults, clock          of APNs, of Postgres
                             starts                 of cards by push
                             refusal                the ledger refuses one ride
                             disk                   the ledger's disk is full
                             locks                  an app keeps phones' rows locked
                             notify                 another application fills the NOTIFY queue
                             rights                 the engine loses a right
                             crowd                  one ride with 5,000 phones
                             burst                  one ride with 5,000 events
                             reassign               rides change their driver during outages
                             decisions              rides crash or stall their decision
                             hour                   Postgres' clock goes back an hour while a
                                                    killed node holds rides; only with --only hour
                             handover               phones are signed out or change their owner
                             triggers               an app's trigger updates its row again
                             locales                phones and rides of unusual locales and zones
                             android                some people have Android phones
                             outage                 APNs or FCM does not answer for seconds; only
                                                    with --only outage --only android
      --only PART          leave out all other parts
      --debug-build PATH   a ridepulse of a debug build, which the nodes run; without it, decisions
                           are left out
      --full-notify-queue  fill the queue up to its 8 GB (on disk) at first, so that NOTIFY fails
      --previous PATH      the ridepulse of an earlier release: the run begins with it, migrates under
                           load, mixes both versions, and ends with it
      --keep               keep requests, logs and ledger even if everything held
      --failovers N        kill the primary of a Patroni cluster N times, switch over once, and let
                           the primary hang once; no other faults
      --replication MODE   synchronous (default), strict or asynchronous
      --nodes 1|2          nodes that run (default 2)
    """

  /// A command line that cannot be parsed.
  struct UsageError: Error {
    let text: String
  }

  private static let switches = ["--help", "--keep", "--full-notify-queue"]
  /// The options of a run with failovers, and those of both kinds of runs.
  private static let ofFailovers: Set<String> = ["--failovers", "--replication", "--nodes"]
  private static let shared: Set<String> = ["--seed", "--rides", "--keep", "--help"]

  init(_ words: [String]) throws(UsageError) {
    var rest = words[...]
    var given: Set<String> = []
    var only: Set<Part> = []
    while let word = rest.popFirst() {
      given.insert(word)
      if Self.switches.contains(word) {
        turnOn(word)
      } else if word == "--only" {
        only.insert(try Self.part(word, of: &rest))
      } else {
        try set(word, to: &rest)
      }
    }
    if !only.isEmpty { without.formUnion(Set(Part.allCases).subtracting(only)) }
    if debugBuild == nil { without.insert(.decisions) }
    for part in [Part.hour, .outage] where !only.contains(part) { without.insert(part) }
    // An earlier release has no Android phones.
    if previous != nil { without.insert(.android) }
    guard failovers != nil, let other = given.subtracting(Self.ofFailovers.union(Self.shared)).min()
    else { return }
    throw UsageError(text: "\(other) does not apply to a run with failovers; leave it out")
  }

  private mutating func turnOn(_ word: String) {
    switch word {
    case "--help": wantsHelp = true
    case "--keep": keeps = true
    default: fillsNotifyQueue = true
    }
  }

  private mutating func set(_ word: String, to rest: inout ArraySlice<String>) throws(UsageError) {
    let known = Self.ofFailovers.union([
      "--for", "--seed", "--rides", "--without", "--previous", "--debug-build",
    ])
    guard known.contains(word) else { throw UsageError(text: "unknown argument \(word)") }
    if word == "--without" {
      without.insert(try Self.part(word, of: &rest))
      return
    }
    let value = try Self.value(word, of: &rest)
    switch word {
    case "--for": duration = try Self.known(Duration(rideText: value), word, value)
    case "--seed": seed = try Self.known(UInt64(value), word, value)
    case "--previous": previous = value
    case "--debug-build": debugBuild = value
    case "--rides": rides = try Self.number(1...100_000, word, value)
    default:
      var run = failovers ?? Failovers()
      switch word {
      case "--failovers": run.count = try Self.number(0...1_000, word, value)
      case "--nodes": run.nodes = try Self.number(1...2, word, value)
      default: run.replication = try Self.known(Replication(rawValue: value), word, value)
      }
      failovers = run
    }
  }

  private static func value(
    _ word: String, of rest: inout ArraySlice<String>
  ) throws(UsageError) -> String {
    guard let value = rest.popFirst() else { throw UsageError(text: "\(word) needs a value") }
    return value
  }

  private static func part(
    _ word: String, of rest: inout ArraySlice<String>
  ) throws(UsageError) -> Part {
    let value = try value(word, of: &rest)
    return try known(Part(rawValue: value), word, value)
  }

  private static func number(
    _ range: ClosedRange<Int>, _ word: String, _ text: String
  ) throws(UsageError) -> Int {
    try known(Int(text).flatMap { range.contains($0) ? $0 : nil }, word, text)
  }

  private static func known<Value>(
    _ value: Value?, _ word: String, _ text: String
  ) throws(UsageError) -> Value {
    guard let value else { throw UsageError(text: "\(word) \(text) can't be read") }
    return value
  }
}
