import Base
import RideCore
import Synchronization
import Testing
import TestSupport

@testable import Orchestrator

@Suite("A second set of rules for a share of the rides") struct RuleTrialTests {
  private static func configuration(_ rules: String) throws -> EngineConfiguration {
    var configuration = try EngineTests.configuration()
    configuration.revision = Revision(rules: rules, version: "1")
    return configuration
  }

  private static func trial(_ share: RecordSample) throws -> RuleTrial {
    let configuration = try configuration("b")
    return RuleTrial(configuration.rules, revision: configuration.revision, for: share)
  }

  /// Decides two events of each ride, and returns the revisions by the ride.
  private func revisions(share: RecordSample?, rides: Int) async throws -> [RideID: [Int32?]] {
    let store = CheckingStore()
    var configuration = try Self.configuration("a")
    configuration.trial = try share.map { try Self.trial($0) }
    let seen = Mutex<[RideID: [Int32?]]>([:])
    let engine = Engine(
      EngineDependencies(
        store: store, transport: StrictTransport(), configuration: configuration,
        log: Log { _, _, _ in },
        onSettled: { settlements in
          seen.withLock { seen in
            for settlement in settlements {
              seen[settlement.rideID, default: []].append(settlement.revision)
            }
          }
        }),
      settings: .patient)
    for ride in 0..<rides { store.emit(RideID("ride-\(ride)")) }
    async let running: Void = engine.run()
    await store.wait { $0.settled.count == rides }
    for ride in 0..<rides { store.emit(RideID("ride-\(ride)")) }
    engine.wake()
    await store.wait { $0.settled.count == 2 * rides }
    engine.stop()
    await running
    return seen.withLock { $0 }
  }

  @Test func `each ride has one set for its life, and its rows name it`() async throws {
    let share = try #require(RecordSample(text: "30%"))
    let next = try Self.trial(share)
    let seen = try await revisions(share: share, rides: 60)
    let (one, other) = (
      Revision(rules: "a", version: "1").id, Revision(rules: "b", version: "1").id
    )
    #expect(seen.count == 60)
    #expect((5...35).contains(seen.keys.filter(next.decides).count))
    for (ride, revisions) in seen {
      #expect(Set(revisions) == [next.decides(ride) ? other : one], "\(ride)")
    }
  }

  @Test func `without a share one set decides all rides`() async throws {
    let one = Revision(rules: "a", version: "1").id
    let seen = try await revisions(share: nil, rides: 20)
    #expect(seen.count == 20 && Set(seen.values.joined()) == [one])
  }

  @Test func `a larger share keeps the rides of a smaller one, and no share has raw pushes`() throws
  {
    let small = try Self.trial(try #require(RecordSample(text: "5%")))
    let large = try Self.trial(try #require(RecordSample(text: "20%")))
    let all = try Self.trial(try #require(RecordSample(text: "100%")))
    let rides = (0..<4000).map { RideID("ride-\($0)") }
    let chosen = rides.filter(small.decides)
    #expect((120...280).contains(chosen.count), "\(chosen.count)")
    #expect(chosen.allSatisfy(large.decides) && rides.allSatisfy(all.decides))
    // Another hash than that of recorded rides: a canary must not be what is recorded.
    #expect(chosen != rides.filter(small.share.contains))
    #expect(!all.decides(RideID("legacy:customer:00")))
  }

  @Test func `what is read, and when rides are due again, follows both sets`() throws {
    func rules(_ states: Set<String>, _ period: Int?) -> RuleSet {
      let rule = period.map {
        Rule(
          name: "beat", app: .driver,
          when: .at(Timing(.every(.seconds($0)), while: states)), what: .background,
          expires: .ofBackground, source: "a.yaml:1")
      }
      return RuleSet(
        activeStates: states, finalStates: [], events: [], rules: rule.map { [$0] } ?? [])
    }
    let five = try #require(RecordSample(text: "5%"))
    let ten = try #require(RecordSample(text: "10%"))
    let (one, other) = (rules(["a"], 60), rules(["a", "b"], 90))
    let joined = one.joined(with: other, for: five)
    #expect(joined.activeStates == ["a", "b"] && joined.rules.count == 2)
    #expect(joined.apps == [.driver])
    var digests: Set<String> = [one.timingDigest, other.timingDigest]
    digests.insert(joined.timingDigest)
    digests.insert(one.joined(with: other, for: ten).timingDigest)
    digests.insert(other.joined(with: one, for: five).timingDigest)
    #expect(digests.count == 5)
    // A promoted set may have all rules of the one before: each ride has other times then.
    let both = one.keeping(one.rules + other.rules)
    #expect(
      one.joined(with: both, for: five).timingDigest
        != both.joined(with: one, for: five).timingDigest)
    // Rules without times never make a ride due.
    #expect(rules(["a"], nil).joined(with: rules(["a"], nil), for: ten).timingDigest.isEmpty)
  }
}
