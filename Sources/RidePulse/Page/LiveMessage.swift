import Base
import Orchestrator
import PostgresStore
import PushClient
import RideCore

/// The message sent to the page each second: one JSON object on one line.
struct LiveMessage {
  /// The last answer of the database.
  enum Database {
    /// It was not queried yet.
    case unknown
    case silent
    case answers(RideGauges, RideStates)
  }

  var now: Timestamp
  var node: String
  /// Nil if the process has one.
  var cell: String?
  var reading: ServiceMetrics.Reading
  var change: LiveWindow.Change
  var database: Database

  /// The maximum number of verdicts that the page lists.
  static let verdictLimit = 40

  var json: [UInt8] {
    JSONValue.object([
      "at": .integer(now.microseconds / 1000), "node": .string(node),
      "cell": cell.map { .string($0) } ?? .null,
      "version": .string(Version.text), "ready": .bool(reading.problems.isEmpty),
      "problems": .array(reading.problems.map { .string($0) }), "database": answers,
      "listen": .bool(reading.listenIsHealthy ?? true), "rides": rides,
      "window_s": .number(change.span.inSeconds), "pushes": .array(pushes),
      "all": type("all", Array(change.delays.values)), "verdicts": .array(verdicts),
      "lanes": .array(lanes), "apns": .array(connections),
      "held": .integer(Int64(reading.engine.ridesHeld)),
      "pauses": .array(reading.pauses.map { .string($0.text) }),
    ]).json
  }

  private var answers: JSONValue {
    switch database {
    case .unknown: .null
    case .silent: .bool(false)
    case .answers: .bool(true)
    }
  }

  private var rides: JSONValue {
    guard case .answers(let gauges, let states) = database else { return .null }
    let known = states.counts.reduce(0) { $0 + $1.rides }
    return .object([
      "live": .integer(gauges.liveRides), "due": .integer(gauges.dueRides),
      "due_cut": .bool(gauges.dueRides >= RideGauges.countLimit),
      "oldest_due_s": .number(gauges.oldestDue.inSeconds), "parked": .integer(gauges.parkedRides),
      "quarantined": .integer(gauges.quarantinedPhones), "cut": .bool(states.isCut),
      "other_states": .integer(states.rides - known),
      "states": .array(
        states.counts.map {
          .object(["state": .string($0.state), "n": .integer($0.rides)])
        }),
    ])
  }

  private var pushes: [JSONValue] {
    change.delays.sorted { $0.key.rawValue < $1.key.rawValue }.map {
      type($0.key.rawValue, [$0.value])
    }
  }

  /// Returns the number of accepted pushes of a type, and the quantiles of their delays.
  private func type(_ name: String, _ delays: [[Int]]) -> JSONValue {
    let counts = delays.reduce(DurationHistogram().counts) { sum, counts in
      zip(sum, counts).map { $0 + $1 }
    }
    func milliseconds(_ share: Double) -> JSONValue {
      Quantile.seconds(share, of: counts).map { .number($0 * 1000) } ?? .null
    }
    return .object([
      "type": .string(name), "n": .integer(Int64(counts.reduce(0, +))),
      "p50_ms": milliseconds(0.5), "p99_ms": milliseconds(0.99),
    ])
  }

  private var verdicts: [JSONValue] {
    struct Key: Hashable {
      var app: String
      var status: String
      var reason: String
    }
    var sums: [Key: (count: Int, total: Int)] = [:]
    for (line, count, total) in change.lines {
      let status = Self.word(line)
      let key = Key(app: line.app.rawValue, status: status, reason: line.reason)
      let sum = sums[key] ?? (0, 0)
      sums[key] = (sum.count + count, sum.total + total)
    }
    let sorted = sums.sorted {
      (-$0.value.total, $0.key.status, $0.key.reason, $0.key.app)
        < (-$1.value.total, $1.key.status, $1.key.reason, $1.key.app)
    }
    return sorted.prefix(Self.verdictLimit).map { key, sum in
      .object([
        "app": .string(key.app), "status": .string(key.status), "reason": .string(key.reason),
        "n": .integer(Int64(sum.count)), "total": .integer(Int64(sum.total)),
      ])
    }
  }

  /// Returns the word for a status: `pending` is a retry, unless the push or its receipt is awaited
  /// as its rule states.
  private static func word(_ line: PushTally.Line) -> String {
    guard line.status == .pending else { return line.status.rawValue }
    return line.waitsByRule ? "waiting" : "tried again"
  }

  private var lanes: [JSONValue] {
    reading.engine.lanes.sorted {
      ($0.app, $0.network.rawValue) < ($1.app, $1.network.rawValue)
    }.map {
      .object([
        "app": .string($0.app), "environment": .string($0.network.rawValue),
        "paused": .bool($0.pausedBy != nil),
        "cause": $0.pausedBy.map { .string($0.rawValue) } ?? .null,
      ])
    }
  }

  private var connections: [JSONValue] {
    PushNetwork.allCases.compactMap { network in
      let statistics = reading.transport.filter { $0.network == network }
        .reduce(.none) { $0 + $1.connections }
      guard statistics.openedTotal > 0 || statistics.queued > 0 else { return nil }
      return .object([
        "environment": .string(network.rawValue),
        "open": .integer(Int64(statistics.openConnections)),
        "in_flight": .integer(Int64(statistics.inFlight)),
        "queued": .integer(Int64(statistics.queued)),
      ])
    }
  }
}

/// The counts of the last minute: counters only rise, so the difference of two readings gives them.
struct LiveWindow {
  /// The difference between the first reading and the last.
  struct Change {
    /// The time between them, a minute at most; less if the first listener connected later.
    var span: Duration = .zero
    /// The verdicts, with their numbers within the window and since the start.
    var lines: [(line: PushTally.Line, count: Int, total: Int)] = []
    /// The numbers of pushes of each type that APNs accepted, by the bounds of `DurationHistogram`.
    var delays: [PushType: [Int]] = [:]
  }

  static let length: Duration = .seconds(60)

  private var readings: [(at: Duration, tally: PushTally)] = []

  /// - Parameter now: The time on a monotonic clock.
  mutating func add(_ tally: PushTally, at now: Duration) {
    readings.removeAll { $0.at < now - Self.length }
    readings.append((now, tally))
  }

  var change: Change {
    guard let first = readings.first, let last = readings.last else { return Change() }
    var change = Change(span: last.at - first.at)
    for (line, total) in last.tally.lines {
      let before = first.tally.lines.first { $0.line == line }?.count ?? 0
      change.lines.append((line, total - before, total))
    }
    for delay in last.tally.delays {
      let before = first.tally.delays.first {
        $0.app == delay.app && $0.pushType == delay.pushType
      }
      var counts = delay.times.counts
      if let before { counts = zip(counts, before.times.counts).map { $0 - $1 } }
      change.delays[delay.pushType] = zip(
        change.delays[delay.pushType] ?? counts.map { _ in 0 }, counts
      ).map { $0 + $1 }
    }
    return change
  }
}

/// Computes quantiles of values that were counted in buckets.
enum Quantile {
  /// Returns the number of seconds below which this share of the values lies, interpolated linearly
  /// within a bucket; the last bound for values beyond it. Nil if there are no values.
  static func seconds(
    _ share: Double, of counts: [Int], bounds: [Double] = DurationHistogram.bounds
  )
    -> Double?
  {
    let total = counts.reduce(0, +)
    guard total > 0 else { return nil }
    let rank = share * Double(total)
    var below = 0.0
    for (index, count) in counts.enumerated() where count > 0 {
      guard index < bounds.count else { break }
      if below + Double(count) >= rank {
        let low = index == 0 ? 0 : bounds[index - 1]
        return low + (bounds[index] - low) * (rank - below) / Double(count)
      }
      below += Double(count)
    }
    return bounds.last
  }
}
