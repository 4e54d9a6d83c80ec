import Synchronization

/// Wakes one waiting task; signals without a waiter are kept as one.
package final class AsyncSignal: Sendable {
  private struct State {
    var isSet = false
    var waitID: UInt64 = 0
    var waiter: (waitID: UInt64, continuation: CheckedContinuation<Void, Never>)?
  }

  private let state = Mutex(State())

  package init() {}

  /// Wakes the waiter, or lets the next wait return at once.
  package func notify() {
    let waiter = state.withLock { state -> CheckedContinuation<Void, Never>? in
      guard let waiter = state.waiter else {
        state.isSet = true
        return nil
      }
      state.waiter = nil
      return waiter.continuation
    }
    waiter?.resume()
  }

  /// Waits for a signal, for at most `limit` if one is given.
  package func wait(atMost limit: Duration? = nil, on clock: any Clock<Duration>) async {
    let waitID = state.withLock { state -> UInt64 in
      state.waitID += 1
      return state.waitID
    }
    var timer: Task<Void, Never>?
    await withCheckedContinuation { continuation in
      let isSet = state.withLock { state -> Bool in
        if state.isSet {
          state.isSet = false
          return true
        }
        state.waiter = (waitID, continuation)
        return false
      }
      if isSet { return continuation.resume() }
      guard let limit else { return }
      // The timer starts after the waiter is stored: one that ended earlier would find no waiter.
      timer = Task {
        try? await clock.sleep(for: limit)
        if !Task.isCancelled { cancelWait(waitID) }
      }
    }
    timer?.cancel()
  }

  /// Wakes this waiter only, and leaves no signal behind.
  private func cancelWait(_ waitID: UInt64) {
    let waiter = state.withLock { state -> CheckedContinuation<Void, Never>? in
      guard let waiter = state.waiter, waiter.waitID == waitID else { return nil }
      state.waiter = nil
      return waiter.continuation
    }
    waiter?.resume()
  }
}
