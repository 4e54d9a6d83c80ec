import Base
import RideCore
import Synchronization
import Testing
import TestSupport

@testable import Orchestrator

/// Which rides an engine records.
@Suite("Recording rides") struct RecordingTests {
  /// Runs rides through an engine that records this share.
  private func recorded(_ share: String?, rides: Int) async throws -> [RideID: RecordedPass] {
    let store = CheckingStore()
    for ride in 0..<rides { store.emit("ride-\(ride)") }
    let engine = Engine(
      EngineDependencies(
        store: store, transport: StrictTransport(), configuration: try EngineTests.configuration(),
        log: Log { _, _, _ in }, recording: share.flatMap { RecordSample(text: $0) }),
      settings: .patient)
    await EngineTests.run(engine, store) { $0.settled.count == rides }
    return store.state.withLock { $0.recorded }
  }

  @Test func `nothing is recorded unless a share is set`() async throws {
    #expect(try await recorded(nil, rides: 20).isEmpty)
  }

  @Test func `each sampled ride is recorded with its answers, and no other`() async throws {
    let sample = try #require(RecordSample(text: "30%"))
    let passes = try await recorded("30%", rides: 60)
    let chosen = (0..<60).map { RideID("ride-\($0)") }.filter(sample.contains)
    #expect(!chosen.isEmpty && chosen.count < 60)
    #expect(Set(passes.keys) == Set(chosen))
    for pass in passes.values {
      let value = try #require(JSONValue(json: pass.json.utf8))
      #expect(value.value(at: ["ride", "state"]) == .string("driver_arrived"))
      guard case .array(let answers)? = value.value(at: ["answers"]) else {
        throw TestFailure(pass.json)
      }
      #expect(answers.compactMap { $0.value(at: ["status"]) } == [.integer(200)])
      #expect(answers.compactMap { $0.value(at: ["token"]) } == [.string("aabb")])
    }
  }
}
