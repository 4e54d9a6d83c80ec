import Base
import Synchronization
import TestSupport
import Testing

@testable import RidePulse

@Suite(.timeLimit(.minutes(10))) struct SharedTransportTests {
  private final class Ended: Sendable {
    let engines = Mutex<[String]>([])
    func add(_ name: String) { engines.withLock { $0.append(name) } }
    var names: [String] { engines.withLock { $0 } }
  }

  @Test func `connections close once all engines have ended, or after the limit`() async throws {
    try await Stage.run { stage in
      let shared = try SharedTransport(APNsVariables(stage.environment), log: Log { _, _, _ in })
      let ended = Ended()
      for _ in 1...3 { shared.enter() }
      // Longer than the test may last.
      let limit: Duration = .seconds(3600)
      let early = ["berlin", "wien"].map { name in
        Task {
          await shared.close(within: limit)
          ended.add(name)
        }
      }
      try await Task.sleep(for: .milliseconds(200))  // poll: nothing must happen in this time
      #expect(ended.names == [])
      await shared.close(within: limit)
      for task in early { await task.value }
      #expect(ended.names.sorted() == ["berlin", "wien"])
    }
    try await Stage.run { stage in
      let shared = try SharedTransport(APNsVariables(stage.environment), log: Log { _, _, _ in })
      for _ in 1...2 { shared.enter() }
      // The other engine never ends.
      await shared.close(within: .milliseconds(50))
    }
  }
}
