import Synchronization

/// Wakes one waiting task; rings while nobody waits are kept, as one.
package final class AsyncSignal: Sendable {
  private struct State {
    var isRung = false
    var visit: UInt64 = 0
    var waiter: (visit: UInt64, continuation: CheckedContinuation<Void, Never>)?
  }

  private let state = Mutex(State())

  /// A bell that has not rung.
  package init() {}

  /// Wakes the waiter, or spares the next one its wait.
  package func ring() {
    let waiter = state.withLock { state -> CheckedContinuation<Void, Never>? in
      guard let waiter = state.waiter else {
        state.isRung = true
        return nil
      }
      state.waiter = nil
      return waiter.continuation
    }
    waiter?.resume()
  }

  /// Returns when the bell rings, or after the limit where there is one.
  package func wait(atMost limit: Duration? = nil, on clock: any Clock<Duration>) async {
    let visit = state.withLock { state -> UInt64 in
      state.visit += 1
      return state.visit
    }
    var timer: Task<Void, Never>?
    await withCheckedContinuation { continuation in
      let isRung = state.withLock { state -> Bool in
        if state.isRung {
          state.isRung = false
          return true
        }
        state.waiter = (visit, continuation)
        return false
      }
      if isRung { return continuation.resume() }
      guard let limit else { return }
      // Not before the waiter is there: a timer that ends first would find nobody to wake.
      timer = Task {
        try? await clock.sleep(for: limit)
        if !Task.isCancelled { give(up: visit) }
      }
    }
    timer?.cancel()
  }

  /// The timer of a visit wakes that visit's waiter only, and leaves no ring behind.
  private func give(up visit: UInt64) {
    let waiter = state.withLock { state -> CheckedContinuation<Void, Never>? in
      guard let waiter = state.waiter, waiter.visit == visit else { return nil }
      state.waiter = nil
      return waiter.continuation
    }
    waiter?.resume()
  }
}
