/// Limits concurrency: tests with processes of their own would starve each other.
///
/// Most of these tests wait most of their time, but on a slow or busy machine few of them take all of
/// it. So while others wait, one more than the capacity enters each time the machine had time left.
package actor Turnstile {
  private let capacity: Int
  private let most: Int
  private let pause: Duration
  private let idleShare: @Sendable () -> Double
  private var inside = 0
  private var waiting: [CheckedContinuation<Void, Never>] = []
  private var isWatching = false

  /// The share of idle processors from which on one more enters.
  private static let enough = 0.3

  /// - Parameters:
  ///   - most: How many may be inside while processors are idle.
  ///   - idleShare: Returns the share of idle processors since it was called last.
  package init(
    capacity: Int, most: Int? = nil, every pause: Duration = .seconds(1),
    idleShare: @escaping @Sendable () -> Double = ProcessorTime.meter()
  ) {
    self.capacity = capacity
    self.most = most ?? capacity
    self.pause = pause
    self.idleShare = idleShare
  }

  /// Runs `body` once a slot is free.
  package nonisolated func pass<Value>(_ body: () async throws -> Value) async throws -> Value {
    await enter()
    do {
      let value = try await body()
      await leave()
      return value
    } catch {
      await leave()
      throw error
    }
  }

  private func enter() async {
    if inside < capacity, waiting.isEmpty {
      inside += 1
      return
    }
    watch()
    await withCheckedContinuation { waiting.append($0) }
  }

  private func leave() {
    inside -= 1
    if inside < capacity { admit() }
  }

  private func admit() {
    guard !waiting.isEmpty else { return }
    inside += 1
    waiting.removeFirst().resume()
  }

  private func watch() {
    guard !isWatching, most > capacity else { return }
    isWatching = true
    Task {
      // Since the last time that one waited.
      _ = idleShare()
      repeat {
        try? await Task.sleep(for: pause)  // poll: the load of the machine has no event
        if idleShare() >= Self.enough, inside < most { admit() }
      } while !waiting.isEmpty
      isWatching = false
    }
  }
}
