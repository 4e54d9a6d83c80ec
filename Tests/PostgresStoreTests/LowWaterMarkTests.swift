import Base
import Testing

@testable import PostgresStore
@testable import RideCore

@Suite("Where claims begin") struct LowWaterMarkTests {
  private var lowWaterMark = LowWaterMark()
  private let now = Timestamp(epochSeconds: 1_800_000_000)

  private func time(_ second: Double) -> Duration { .microseconds(Int64(second * 1e6)) }

  /// Makes a claim; returns where it began.
  @discardableResult
  private mutating func plan(
    at second: Double, lowest: Int64?, to claimedTo: Int64? = nil, highest: Int64? = nil,
    due: Timestamp? = nil, cost: Duration = .milliseconds(40)
  ) -> LowWaterMark.Bounds {
    let plan = lowWaterMark.plan(at: time(second))
    lowWaterMark.observe(
      LowWaterMark.ScanResult(
        lowestEvent: plan.measuresLowest ? lowest : nil, claimedTo: claimedTo,
        highestEvent: highest, lowestDue: due, now: now + time(second)),
      by: plan, began: time(second), ended: time(second) + cost)
    return plan.bounds
  }

  @Test mutating func `R41: a claim begins where the lowest event was a while ago`() {
    #expect(plan(at: 0, lowest: 100, highest: 200, cost: .milliseconds(300)) == .init())
    #expect(plan(at: 0.5, lowest: 300, cost: .milliseconds(300)).event == nil)
    #expect(plan(at: 1.4, lowest: 400, cost: .milliseconds(300)).event == nil)
    // The lowest event at 0 s; the next mark was set at 1.4 s.
    #expect(plan(at: 2.2, lowest: 500).event == 100)
    #expect(plan(at: 2.5, lowest: 600).event == 100)
    #expect(plan(at: 2.7, lowest: 600).event == 100)
    #expect(plan(at: 2.8, lowest: 600).event == 400)
    #expect(
      !lowWaterMark.plan(at: time(3.2)).measuresLowest
        && lowWaterMark.plan(at: time(3.8)).measuresLowest)
  }

  @Test mutating func `R41: where none is left it begins behind the last that it took`() {
    plan(at: 0, lowest: 100, highest: 200, cost: .milliseconds(300))
    plan(at: 1.4, lowest: nil, cost: .milliseconds(300))
    plan(at: 2.8, lowest: nil)
    #expect(plan(at: 3.8, lowest: nil).event == 201)
  }

  @Test
  mutating func `R37, R41: where that is cheap, claims look at everything every now and then`() {
    plan(at: 0, lowest: 100, highest: 200)
    #expect(plan(at: 1.2, lowest: 300) == .init())
    #expect(plan(at: 2, lowest: 300).event == 100)
    #expect(plan(at: 2.3, lowest: 300, cost: .milliseconds(2)) == .init())
    #expect(plan(at: 2.7, lowest: 300).event == 300)
    // This claim comes too soon to move the start of later ones.
    #expect(plan(at: 2.9, lowest: 700) == .init())
    plan(at: 3.5, lowest: 800)
    #expect(plan(at: 3.6, lowest: 800).event == 300)
    #expect(lowWaterMark.beginSweep(at: time(100)) == nil && lowWaterMark.nextSweep == nil)
  }

  @Test mutating func `R37, R41: where that is costly, it is done beside the claims`() {
    plan(at: 0, lowest: 100, highest: 200, cost: .milliseconds(300))
    plan(at: 1.4, lowest: 300, cost: .milliseconds(300))
    #expect(lowWaterMark.beginSweep(at: time(2.4)) == nil)
    plan(at: 2.8, lowest: 400)
    #expect(plan(at: 2.9, lowest: 500).event == 300)
    plan(at: 3.9, lowest: 500)
    #expect(plan(at: 4, lowest: 500).event == 400)
    #expect(lowWaterMark.nextSweep == time(3.9))
    #expect(lowWaterMark.beginSweep(at: time(4.1))?.event == 400)
    #expect(lowWaterMark.beginSweep(at: time(4.1)) == nil, "one at a time")
    lowWaterMark.endSweep(.init(event: 50), began: time(4.1), ended: time(4.3))
    // Claims now begin at the event that was committed late, but not for long.
    #expect(plan(at: 4.5, lowest: 50).event == 50)
    plan(at: 5.7, lowest: 600)
    #expect(plan(at: 6.8, lowest: 700).event == 50)
    #expect(plan(at: 6.9, lowest: 700).event == 600)
    #expect(lowWaterMark.beginSweep(at: time(7)) != nil)
    // The sweep failed and is repeated; then it has become cheap.
    lowWaterMark.endSweep(nil, began: time(7), ended: time(7.1))
    #expect(lowWaterMark.beginSweep(at: time(8.2)) != nil)
    lowWaterMark.endSweep(.init(), began: time(8.2), ended: time(8.201))
    #expect(plan(at: 9.5, lowest: 700) == .init())
  }

  /// The cost of a scan; a commit just after it begins must be found by the end of the next one, in
  /// time.
  @Test(arguments: [1, 4, 20, 49, 50, 51, 100, 400, 900, 1200])
  mutating func `R37: a late commit is found within three seconds, whatever a look costs`(
    milliseconds: Int
  ) {
    let cost = Duration.milliseconds(milliseconds)
    plan(at: 0, lowest: 100, highest: 200, cost: .milliseconds(300))
    plan(at: 1.4, lowest: 300, cost: .milliseconds(300))
    plan(at: 2.8, lowest: 400)
    #expect(lowWaterMark.beginSweep(at: time(4)) != nil)
    lowWaterMark.endSweep(.init(), began: time(4), ended: time(4) + cost)
    var next: Duration?
    for step in 0...1000 where next == nil {
      let uptime = time(4) + cost + .milliseconds(50 * step)
      if lowWaterMark.plan(at: uptime).isFull || lowWaterMark.beginSweep(at: uptime) != nil {
        next = uptime
      }
    }
    let found = (next ?? .seconds(3600)) + cost - time(4)
    #expect(found <= max(.milliseconds(3050), cost * 3 + .milliseconds(50)), "\(found)")
  }

  @Test mutating func `R41: rides are looked for from the first that was due`() {
    let later = now + .seconds(600)
    plan(at: 0, lowest: nil, due: now - .seconds(60))
    plan(at: 1.2, lowest: nil, due: later)
    #expect(plan(at: 2, lowest: nil, due: later).due == now - .seconds(61))
    plan(at: 2.5, lowest: nil, due: later)
    #expect(plan(at: 3, lowest: nil).due == now + .milliseconds(200))
  }

  @Test mutating func `while claims are full, they follow one another for a quarter of a second`() {
    #expect(plan(at: 0, lowest: 100, to: 200).event == nil)
    #expect(plan(at: 0.1, lowest: nil, to: 300).event == 201)
    #expect(plan(at: 0.2, lowest: nil, to: 400).event == 301)
    // What lies below may have been released meanwhile.
    #expect(plan(at: 0.26, lowest: nil, to: 500).event == nil)
    #expect(plan(at: 0.3, lowest: nil, to: 600).event == 501)
    // This claim was not full: nothing is left above it.
    #expect(plan(at: 0.35, lowest: nil).event == 601)
    #expect(plan(at: 0.4, lowest: nil).event == nil)
  }

  @Test mutating func `a claim that measures the lowest event begins at the mark`() {
    plan(at: 0, lowest: 100, to: 200, cost: .milliseconds(300))
    plan(at: 1.4, lowest: 300, to: 400, cost: .milliseconds(300))
    #expect(plan(at: 2.8, lowest: 300, to: 500).event == 100)
    #expect(plan(at: 2.9, lowest: 300, to: 600).event == 501)
    #expect(plan(at: 3, lowest: 300, to: 700).event == 601)
    // The mark is a second old, and the last look at everything is not.
    #expect(plan(at: 3.04, lowest: 300, to: 800).event == 701)
    #expect(plan(at: 3.84, lowest: 300, to: 900).event == 300)
  }

  @Test mutating func `a claim begins at the mark after a release and after a late commit`() {
    plan(at: 0, lowest: 100, to: 200)
    lowWaterMark.rewind()
    #expect(plan(at: 0.1, lowest: nil, to: 300) == .init())
    plan(at: 1.2, lowest: 300, to: 400, cost: .milliseconds(300))
    plan(at: 2.8, lowest: 400, to: 500, cost: .milliseconds(300))
    #expect(lowWaterMark.plan(at: time(3)).followsLast)
    let bounds = lowWaterMark.beginSweep(at: time(100))
    #expect(bounds != nil)
    lowWaterMark.endSweep(.init(event: 50), began: time(100), ended: time(100.3))
    #expect(lowWaterMark.plan(at: time(3)).bounds.event == 50)
  }
}
