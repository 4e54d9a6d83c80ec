/// Limits concurrency: tests with processes of their own would starve each other.
package actor Turnstile {
  private var free: Int
  private var waiting: [CheckedContinuation<Void, Never>] = []

  package init(capacity: Int) {
    free = capacity
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
    if free > 0 {
      free -= 1
    } else {
      await withCheckedContinuation { waiting.append($0) }
    }
  }

  private func leave() {
    if waiting.isEmpty {
      free += 1
    } else {
      waiting.removeFirst().resume()
    }
  }
}
