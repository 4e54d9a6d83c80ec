import Base
import Dispatch
import PostgresStore
import RideCore
import Timeline

/// The pushes of the next hour if no ride changes: counted by minute, and the next ones listed.
struct Timeline {
  /// How far it looks ahead.
  static let length: Duration = .seconds(3600)
  /// The maximum number of listed entries, each of which stands for the pushes of one rule for one
  /// ride.
  static let listLimit = 200
  /// The maximum numbers of pushes and of decisions about rides; the hour is cut when one is
  /// reached.
  static let pushLimit = 20_000
  static let decisionLimit = 40_000

  private let from: Timestamp
  private let rides: Int
  private let hasMoreRides: Bool
  private var minutes: [Int64: [String: Int]] = [:]
  private var next: [JSONValue] = []
  private var pushes = 0
  private var cutAt: Timestamp?

  /// Replays rides, in their state at `from`, through the hour. This may take a second, so it must
  /// not run on a thread that others wait for.
  init(
    _ views: [RideView], hasMore: Bool, by configuration: EngineConfiguration, from: Timestamp,
    permits: PermitBook = PermitBook()
  ) {
    self.from = from
    rides = views.count
    hasMoreRides = hasMore
    let end = from + Self.length
    let world = World(views, for: configuration, permits: permits)
    var replay = Replay(world, by: configuration, from: from)
    var decisions = 0
    while let pass = replay.next(before: end) {
      if pushes >= Self.pushLimit || decisions >= Self.decisionLimit {
        cutAt = pass.now
        break
      }
      decisions += 1
      for group in PreviewGroup.groups(pass.decision, at: pass.now) { add(group) }
    }
  }

  private mutating func add(_ group: PreviewGroup) {
    let count = group.pushes.count
    let push = group.first
    let type = push.headers.pushType.rawValue
    let minute = (group.at - from).components.seconds / 60
    minutes[minute, default: [:]][type, default: 0] += count
    pushes += count
    guard next.count < Self.listLimit else { return }
    next.append(
      .object([
        "at": .integer(group.at.epochSeconds), "ride": .string(group.ride.id.text),
        "state": group.ride.state.map { .string($0) } ?? .null, "rule": .string(push.entry.rule),
        "app": .string(push.entry.app.rawValue), "type": .string(type),
        "phones": .integer(Int64(count)),
      ]))
  }

  /// The timeline as JSON for the page.
  var json: [UInt8] {
    JSONValue.object([
      "at": .integer(from.epochSeconds), "to": .integer((from + Self.length).epochSeconds),
      "rides": .integer(Int64(rides)), "rides_cut": .bool(hasMoreRides),
      "cut_at": cutAt.map { .integer($0.epochSeconds) } ?? .null,
      "pushes": .integer(Int64(pushes)), "next": .array(next),
      "minutes": .array(
        minutes.sorted { $0.key < $1.key }.map { minute, types in
          .object([
            "minute": .integer(minute), "types": .object(types.mapValues { .integer(Int64($0)) }),
          ])
        }),
    ]).json
  }
}

/// Reads the current rides, and computes the timeline.
enum TimelineAnswer {
  /// How long a timeline is reused.
  static let freshness: Duration = .seconds(15)
  /// The number of rides that are read: one page.
  static let rideLimit = RideSnapshot.pageSize

  static func make(_ pool: SessionPool, _ configuration: EngineConfiguration) async throws
    -> [UInt8]
  {
    let (views, now, permits) = try await pool.with(.long) { try await read($0, configuration) }
    return await withCheckedContinuation { continuation in
      DispatchQueue.global(qos: .utility).async {
        let timeline = Timeline(
          views, hasMore: views.count >= rideLimit, by: configuration, from: now,
          permits: permits)
        continuation.resume(returning: timeline.json)
      }
    }
  }

  private static func read(
    _ session: PostgresSession, _ configuration: EngineConfiguration
  ) async throws -> ([RideView], Timestamp, PermitBook) {
    let rules = configuration.allRules
    let snapshot = RideSnapshot(
      session: session, apps: rules.apps, rules: rules,
      log: Log { _, _, _ in })
    let now = try await snapshot.now()
    var views: [RideView] = []
    try await snapshot.rides(in: rules.activeStates, atLeast: rideLimit) {
      views += $0
    }
    let permits = try await snapshot.permits(for: rules, views.map(\.rideID))
    return (views, now, permits)
  }
}
