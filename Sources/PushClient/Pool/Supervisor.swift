import Glibc
import RideCore
import Synchronization
import SystemSupport

/// The client's one thread that never blocks on the network.
///
/// It enforces deadlines while connections are being opened, starts connects after their back-off,
/// and joins threads that have ended.
final class Supervisor: Sendable {
  private struct State {
    var wakeAt = MonotonicTime.never

    /// True if its thread sleeps until `wakeAt`, or is about to.
    var isAsleep = false
    var rejected = ReportCollector()
    var isClosing = false
    var hasEnded = false
    var whenEnded: [@Sendable () -> Void] = []
  }

  private let wake: EventFD
  private let state = Mutex(State())

  /// Returns nil if the process has no file descriptor left.
  init?() {
    guard let wake = EventFD() else { return nil }
    self.wake = wake
  }

  /// Ensures that the pools are supervised at this time at the latest.
  func wake(by time: MonotonicTime) {
    let mustWake = state.withLock { state in
      guard time < state.wakeAt else { return false }
      state.wakeAt = time
      return state.isAsleep
    }
    if mustWake { wake.signal() }
  }

  func signal() { wake.signal() }

  /// Reports pushes that ended without a connection, on a thread of the transport.
  func reject(_ rejected: [PoolStateMachine<QueuedPush>.Rejected]) {
    guard !rejected.isEmpty else { return }
    let hasEnded = state.withLock { state in
      if !state.hasEnded {
        for (push, cause) in rejected { state.rejected.add(push, .unsent(cause)) }
      }
      return state.hasEnded
    }
    guard hasEnded else { return signal() }
    var reports = ReportCollector()
    for (push, cause) in rejected { reports.add(push, .unsent(cause)) }
    let last = reports
    let deliver: @Sendable () -> Void = {
      var reports = last
      reports.deliver()
    }
    // After the end the client has no thread left, and the caller's must not be used: it may hold a
    // lock that its report takes too.
    if let thread = WorkerThread(deliver) { thread.detach() } else { deliver() }
  }

  /// Begins the shutdown; the closure is called after all connection threads have ended.
  func close(_ pools: PoolTable, at limit: MonotonicTime, then done: @escaping @Sendable () -> Void)
  {
    pools.close(at: limit)
    let hasEnded = state.withLock { state in
      state.isClosing = true
      if !state.hasEnded { state.whenEnded.append(done) }
      return state.hasEnded
    }
    if hasEnded { done() } else { signal() }
  }

  /// Runs the thread's loop, which retains the pools.
  func run(_ pools: PoolTable) {
    while true {
      deliverRejected()
      pools.supervise()
      if pools.reap(), let done = endIfClosing() {
        for resume in done { resume() }
        return
      }
      sleep()
    }
  }

  private func deliverRejected() {
    var reports = state.withLock { state in
      state.wakeAt = .never
      state.isAsleep = false
      let reports = state.rejected
      state.rejected = ReportCollector()
      return reports
    }
    reports.deliver()
  }

  private func endIfClosing() -> [@Sendable () -> Void]? {
    state.withLock { state in
      guard state.isClosing, state.rejected.isEmpty else { return nil }
      state.hasEnded = true
      return state.whenEnded
    }
  }

  private func sleep() {
    let until = state.withLock { state in
      state.isAsleep = true
      return state.rejected.isEmpty ? state.wakeAt : MonotonicTime(nanoseconds: 0)
    }
    var descriptor = pollfd(fd: wake.descriptor, events: Int16(POLLIN), revents: 0)
    unsafe _ = poll(&descriptor, 1, until.pollTimeout(from: .now()))
    if descriptor.revents != 0 { wake.clear() }
  }
}
