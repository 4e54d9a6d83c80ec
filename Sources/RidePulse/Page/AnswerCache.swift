/// Computes an answer on request, once for all requests within a few seconds.
actor AnswerCache {
  /// How long an answer is reused.
  private let freshness: Duration
  private let make: @Sendable () async throws -> [UInt8]
  private var making: Task<[UInt8], any Error>?
  private var last: (at: ContinuousClock.Instant, json: [UInt8])?

  init(freshness: Duration, _ make: @escaping @Sendable () async throws -> [UInt8]) {
    self.freshness = freshness
    self.make = make
  }

  /// Returns the answer as JSON.
  func json() async throws -> [UInt8] {
    if let last, ContinuousClock.now - last.at < freshness { return last.json }
    if let making { return try await making.value }
    let make = make
    let task = Task { try await make() }
    making = task
    defer { making = nil }
    let json = try await task.value
    last = (.now, json)
    return json
  }
}
