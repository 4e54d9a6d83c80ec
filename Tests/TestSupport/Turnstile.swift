/// Limits concurrency: tests with processes of their own would starve each other.
package actor Turnstile {
  private var places: Int
  private var waiting: [CheckedContinuation<Void, Never>] = []

  package init(places: Int) {
    self.places = places
  }

  /// Runs `body` once a place is free.
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
    if places > 0 {
      places -= 1
    } else {
      await withCheckedContinuation { waiting.append($0) }
    }
  }

  private func leave() {
    if waiting.isEmpty {
      places += 1
    } else {
      waiting.removeFirst().resume()
    }
  }
}
