import Testing
import TestSupport

@testable import Base
@testable import RideCore

/// Cards under random changes of the ride, its tokens, its nodes and their clock.
@Suite("Random schedules of cards") struct CardScheduleTests {
  @Test(arguments: TestSeed.values(20))
  func `R24, R41: timestamps rise, nothing follows an end, one start, the last state comes`(
    seed: UInt64
  ) {
    var world = World(seed: seed)
    for _ in 0..<400 { world.step() }
    world.finish()
    #expect(world.faults.isEmpty, "seed \(seed): \(world.faults.prefix(3))")
    #expect(world.stage.wire.count > 5, "seed \(seed)")
  }

  /// A ride that proceeds, ends and begins again, while everything fails occasionally.
  private struct World {
    var stage = CardStage()
    var numbers: SeededGenerator
    var faults: [String] = []
    private var eta = 0
    private var tokens = 0
    private var checked = 0
    private var stamps: [CardTarget: Int64] = [:]
    private var ended: Set<CardTarget> = []
    private var starts = 0
    private var leasedUntil = CardStage.start

    init(seed: UInt64) {
      numbers = SeededGenerator(seed: seed)
      stage.ride.state = "requested"
      stage.offerStart()
      var rule = Sample.rule(body: "{{ride.state}}")
      rule.name = "told"
      stage.others = [rule]
    }

    mutating func chance(_ percent: Int) -> Bool {
      Int.random(in: 0..<100, using: &numbers) < percent
    }

    mutating func step() {
      if chance(40) {
        eta += 1
        stage.eta(eta)
      }
      if chance(15) {
        let states = ["driver_assigned", "driver_en_route", "driver_arrived", "ride_started"]
        stage.state(states.randomElement(using: &numbers) ?? "")
      }
      if chance(6) {
        tokens += 1
        let old = stage.cards.filter { !$0.isGone }.randomElement(using: &numbers)
        stage.register(
          "c\(tokens % 10)\(tokens / 10)0".evened, card: chance(70) ? old?.target : nil)
      }
      // The database's clock advances, and is occasionally set back. Leases use the same clock.
      stage.wait(Double.random(in: 0..<30, using: &numbers))
      let hasCrashed = chance(6)
      if chance(2), !hasCrashed { stage.wait(-Double.random(in: 0..<300, using: &numbers)) }
      handle(crash: hasCrashed ? CardStage.Crash.allCases.randomElement(using: &numbers) : nil)
    }

    private mutating func handle(crash: CardStage.Crash?) {
      // A node that takes over waits until the lease of the dead node ends, by a clock that may
      // have been set back.
      if stage.now < leasedUntil { return }
      var numbers = numbers
      stage.claim(crash: crash) { _ in Self.answer(&numbers) }
      self.numbers = numbers
      check()
      if crash != nil { leasedUntil = stage.now + CardStage.lease }
    }

    private static func answer(_ numbers: inout SeededGenerator) -> PushOutcome {
      switch Int.random(in: 0..<20, using: &numbers) {
      case 0: .unanswered(.timeout)
      case 1: .refused(503, "Shutdown")
      case 2: .unsent(.refusedStream)
      case 3: .unsent(.closed)
      case 4: .refused(429, "TooManyRequests")
      default: .accepted
      }
    }

    /// Checks what a phone would show of the pushes that arrived since the last claim.
    private mutating func check() {
      for arrival in stage.wire.dropFirst(checked) where arrival.isCard {
        guard let card = arrival.push.entry.card else {
          starts += 1
          if starts > 1 { faults.append("a second start at \(arrival.seconds)") }
          continue
        }
        if arrival.timestamp <= stamps[card] ?? 0 {
          faults.append("\(card): \(arrival.timestamp) after \(stamps[card] ?? 0)")
        }
        if ended.contains(card), arrival.event != "end" {
          faults.append("\(card): \(arrival.event) after its end")
        }
        if arrival.event == "end" { ended.insert(card) }
        stamps[card] = arrival.timestamp
      }
      checked = stage.wire.count
    }

    /// Ends all failures: each card must receive the last state, then the end, and nothing may be
    /// left.
    mutating func finish() {
      // Run for longer than the clock was ever set back: a retry may wait until that time comes
      // again.
      stage.now = max(stage.now, leasedUntil)
      stage.run(for: .seconds(2000))
      check()
      for card in stage.cards where !card.isGone {
        let last = stage.wire.last { $0.push.entry.card == card.target }
        if last?.eta != Int64(eta) {
          faults.append("\(card.target) shows \(last?.eta ?? -1), not \(eta)")
        }
        if last?.status != stage.ride.state {
          faults.append("\(card.target) shows \(last?.status ?? "")")
        }
        if last?.token != card.token { faults.append("\(card.target) by an old token") }
      }
      let alive = stage.cards.filter { !$0.isGone }.map(\.target)
      stage.state("ride_completed")
      stage.run(for: .seconds(100))
      check()
      for id in alive where !ended.contains(id) { faults.append("\(id) is not ended") }
      if stage.ledger.values.contains(where: { $0.status == .pending }) {
        faults.append("left pending: \(stage.ledger.values.filter { $0.status == .pending })")
      }
      if let entry = stage.doubled.first { faults.append("two rows of one push: \(entry)") }
      if stage.due != nil || !stage.memo.isEmpty { faults.append("still on the agenda") }
    }
  }
}

extension String {
  /// The text with an even number of digits, as in a token.
  fileprivate var evened: String { count.isMultiple(of: 2) ? self : self + "0" }
}
