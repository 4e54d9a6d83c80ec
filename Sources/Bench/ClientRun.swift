import Base
import Foundation
import PushClient
import RideCore
import Synchronization

/// Submits pushes so that a window of them is always in flight.
final class ClientRun: Sendable {
  private struct State {
    var next = 0
    var done = 0
    var accepted = 0
    var waiter: CheckedContinuation<Int, Never>?
  }

  private let client: PushClient
  private let requests: [PushRequest]
  private let window: Int
  private let state = Mutex(State())

  private init(_ client: PushClient, _ requests: [PushRequest], window: Int) {
    self.client = client
    self.requests = requests
    self.window = window
  }

  /// Keeps a window of pushes in flight until all are answered.
  ///
  /// - Throws: `BenchFailure` if one is not accepted.
  static func drive(_ client: PushClient, _ requests: [PushRequest], window: Int) async throws {
    let accepted = await ClientRun(client, requests, window: window).finish()
    if accepted != requests.count {
      throw BenchFailure(text: "only \(accepted) of \(requests.count) pushes were accepted")
    }
  }

  /// Returns the number of accepted pushes, once all have ended.
  private func finish() async -> Int {
    await withCheckedContinuation { continuation in
      state.withLock { $0.waiter = continuation }
      submit(window)
    }
  }

  private func submit(_ count: Int) {
    let range = state.withLock { state in
      let start = state.next
      state.next = min(requests.count, start + count)
      return start..<state.next
    }
    if range.isEmpty { return }
    client.submit(Array(requests[range])) { [self] reports in record(reports) }
  }

  private func record(_ reports: [PushReport]) {
    let waiter = state.withLock { state -> (CheckedContinuation<Int, Never>, Int)? in
      state.done += reports.count
      state.accepted += reports.count { $0.outcome == .accepted }
      guard state.done == requests.count, let waiter = state.waiter else { return nil }
      state.waiter = nil
      return (waiter, state.accepted)
    }
    if let (waiter, accepted) = waiter { waiter.resume(returning: accepted) }
    submit(reports.count)
  }
}

extension Timestamp {
  /// The time of this machine's clock.
  static var wall: Timestamp {
    Timestamp(microseconds: Int64(Date().timeIntervalSince1970 * 1e6))
  }
}
