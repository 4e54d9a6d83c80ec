import Dispatch
import PostgresStore
import RideCore

/// Computes the timeline on request, once for all requests within a few seconds.
actor TimelineCache {
  /// How long a timeline is reused.
  private static let freshness: Duration = .seconds(15)
  /// The number of rides that are read: one page.
  static let rideLimit = RideSnapshot.pageSize

  private let conninfo: String
  private let configuration: @Sendable () -> EngineConfiguration
  private var making: Task<[UInt8], any Error>?
  private var last: (at: ContinuousClock.Instant, json: [UInt8])?

  init(conninfo: String, configuration: @escaping @Sendable () -> EngineConfiguration) {
    self.conninfo = conninfo
    self.configuration = configuration
  }

  /// Returns the timeline as JSON.
  func json() async throws -> [UInt8] {
    if let last, ContinuousClock.now - last.at < Self.freshness { return last.json }
    if let making { return try await making.value }
    let (conninfo, configuration) = (conninfo, configuration())
    let task = Task { try await Self.make(conninfo, configuration) }
    making = task
    defer { making = nil }
    let json = try await task.value
    last = (.now, json)
    return json
  }

  /// Reads over a session of its own, which is closed afterwards: reading a page of rides takes
  /// time, and other requests share the admin session.
  private static func make(_ conninfo: String, _ configuration: EngineConfiguration) async throws
    -> [UInt8]
  {
    let (views, now) = try await Database.with(conninfo: conninfo, name: "timeline") { session in
      try await read(session, configuration)
    }
    return await withCheckedContinuation { continuation in
      DispatchQueue.global(qos: .utility).async {
        let timeline = Timeline(
          views, hasMore: views.count >= rideLimit, by: configuration, from: now)
        continuation.resume(returning: timeline.json)
      }
    }
  }

  private static func read(
    _ session: PostgresSession, _ configuration: EngineConfiguration
  ) async throws -> ([RideView], Timestamp) {
    let snapshot = RideSnapshot(
      session: session, apps: configuration.rules.apps, rules: configuration.rules,
      log: Log { _, _, _ in })
    let now = try await snapshot.now()
    var views: [RideView] = []
    try await snapshot.rides(in: configuration.rules.activeStates, atLeast: rideLimit) {
      views += $0
    }
    return (views, now)
  }
}
