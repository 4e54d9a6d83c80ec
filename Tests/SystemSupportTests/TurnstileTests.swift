import Synchronization
import TestSupport
import Testing

/// Tests of what limits other tests.
@Suite struct TurnstileTests {
  /// The number inside, and the most that there were.
  private final class Room: Sendable {
    private let state = Mutex((inside: 0, most: 0))

    var most: Int { state.withLock { $0.most } }
    var inside: Int { state.withLock { $0.inside } }

    func enter() {
      state.withLock { state in
        state.inside += 1
        state.most = max(state.most, state.inside)
      }
    }

    func leave() { state.withLock { $0.inside -= 1 } }
  }

  /// Ten pass; each stays inside until as many are in as can come, or until that takes too long.
  private func most(_ turnstile: Turnstile, until full: Int) async throws -> Int {
    let room = Room()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<10 {
        group.addTask {
          try await turnstile.pass {
            room.enter()
            defer { room.leave() }
            try await wait(until: "\(full) have come in; it were \(room.most)") {
              room.most >= full
            }
          }
        }
      }
      try await group.waitForAll()
    }
    #expect(room.inside == 0)
    return room.most
  }

  @Test func `more than its capacity pass at once only while processors are idle`() async throws {
    let busy = Turnstile(capacity: 2, most: 5, every: .milliseconds(1)) { 0.1 }
    #expect(try await most(busy, until: 2) == 2)
    let idle = Turnstile(capacity: 2, most: 5, every: .milliseconds(1)) { 0.9 }
    #expect(try await most(idle, until: 5) == 5)
    let fixed = Turnstile(capacity: 2, every: .milliseconds(1)) { 0.9 }
    #expect(try await most(fixed, until: 2) == 2)
  }

  @Test func `the share of idle processors is that of /proc/stat`() throws {
    let before = try #require(ProcessorTime(stat: "cpu  100 0 50 800 50 0 0 0 0 0\ncpu0 1"))
    let after = try #require(ProcessorTime(stat: "cpu  150 0 60 820 60 5 5 0 0 0\ncpu0 1"))
    #expect(after.idleShare(since: before) == 0.3)
    #expect(before.idleShare(since: before) == 0)
    #expect(ProcessorTime(stat: "intr 1 2 3 4 5 6 7 8 9") == nil)
    #expect(ProcessorTime(stat: "cpu 1 2 3") == nil)
  }
}
