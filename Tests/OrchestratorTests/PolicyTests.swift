import Base
import RideCore
import Synchronization
import Testing
import TestSupport

@testable import Orchestrator

@Suite struct PollPolicyTests {
  /// The numbers of rides that successive claims of 10 return, and the steps that follow.
  static let rows: [(String, [(Int, PollPolicy.Step)])] = [
    (
      "nothing at all: once more after a commit's time, then the poll",
      [
        (0, .rest(atMost: .milliseconds(50))), (0, .rest(atMost: .seconds(2))),
        (0, .rest(atMost: .seconds(2))),
      ]
    ),
    (
      "a full claim: claim again, producers need not notify",
      [(10, .claim(asleep: false)), (10, .claim(asleep: false))]
    ),
    (
      "no longer full: ask for notifications, claim once more, then rest",
      [
        (10, .claim(asleep: false)), (3, .claim(asleep: true)),
        (0, .rest(atMost: .milliseconds(50))), (0, .rest(atMost: .seconds(2))),
      ]
    ),
    (
      "a trickle: producers go on notifying",
      [(1, .rest(atMost: .milliseconds(50))), (2, .rest(atMost: .milliseconds(50)))]
    ),
  ]

  @Test(arguments: rows.indices)
  func `when to claim`(index: Int) {
    var pollPolicy = PollPolicy()
    for (rides, step) in Self.rows[index].1 {
      #expect(pollPolicy.claimed(rides, of: 10, untilDue: nil) == step, "\(Self.rows[index].0)")
    }
  }

  @Test func `a notified node claims once for an event, after one claim more when it asked`() {
    var pollPolicy = PollPolicy()
    let steps = [(0, true), (1, true), (2, true), (0, true)].map {
      pollPolicy.claimed($0.0, of: 10, isNotified: $0.1, untilDue: nil)
    }
    let poll = PollPolicy.Step.rest(atMost: .seconds(2))
    #expect(steps == [.rest(atMost: .milliseconds(50)), poll, poll, poll])
    // Notifications have ended: it polls for what follows.
    #expect(pollPolicy.claimed(1, of: 10, untilDue: nil) == .rest(atMost: .milliseconds(50)))
    // They are back: one claim more finds what was committed meanwhile.
    #expect(
      pollPolicy.claimed(1, of: 10, isNotified: true, untilDue: nil)
        == .rest(atMost: .milliseconds(50)))
    #expect(pollPolicy.claimed(1, of: 10, isNotified: true, untilDue: nil) == poll)
    pollPolicy.passed(.seconds(3))
    #expect(pollPolicy.claimed(0, of: 10, isNotified: true, untilDue: nil) == poll)
    // Producers did not notify it for a while, and it asks again.
    pollPolicy.passed(.seconds(5))
    #expect(
      pollPolicy.claimed(0, of: 10, isNotified: true, untilDue: nil)
        == .rest(atMost: .milliseconds(50)))
    // After a time of full claims, producers did not notify it.
    #expect(pollPolicy.claimed(10, of: 10, untilDue: nil) == .claim(asleep: false))
    #expect(
      pollPolicy.claimed(1, of: 10, isNotified: false, untilDue: nil) == .claim(asleep: true))
    #expect(
      pollPolicy.claimed(1, of: 10, isNotified: true, untilDue: nil)
        == .rest(atMost: .milliseconds(50)))
  }

  @Test func `a ride that falls due earlier ends the rest, one that is due already too`() {
    var pollPolicy = PollPolicy()
    #expect(
      pollPolicy.claimed(0, of: 10, untilDue: .milliseconds(20)) == .rest(atMost: .milliseconds(20))
    )
    #expect(
      pollPolicy.claimed(0, of: 10, untilDue: .seconds(-5)) == .rest(atMost: .milliseconds(1)))
    #expect(pollPolicy.claim == .claim(asleep: true))
  }
}

@Suite struct InFlightTests {
  private func decision(pushes: Int) throws -> Decision {
    let book = try EngineTests.configuration()
    var ride = Ride(id: "r", state: "driver_arrived")
    ride.customerID = "c"
    let phones = (0..<pushes).map {
      Phone(id: Int64($0), app: .customer, ownerID: "c", token: "aabb")
    }
    let event = RideEvent(id: 1, name: "driver_arrived", at: Timestamp(epochSeconds: 1))
    return decide(
      RideView(rideID: "r", ride: ride, events: [event], phones: phones), by: book,
      now: Timestamp(epochSeconds: 2))
  }

  @Test func `a ride without pushes is finished at once`() throws {
    var inFlight = InFlight()
    let none = inFlight.add(
      RideClaim(rideID: "r", fence: 1), try decision(pushes: 0), claimNumber: 1,
      deadline: .seconds(5))
    #expect(none.isEmpty)
    #expect(inFlight.takeFinished(atMost: 5).count == 1)
    #expect(inFlight.count == 1)
    inFlight.settled(1)
    #expect(inFlight.count == 0)
  }

  @Test func `doubles and strangers change nothing`() throws {
    var inFlight = InFlight()
    let requests = inFlight.add(
      RideClaim(rideID: "r", fence: 1), try decision(pushes: 2), claimNumber: 1,
      deadline: .seconds(5))
    let first = PushReport(ticket: requests[0].ticket, outcome: .accepted)
    let strangers = [
      first, first, PushReport(ticket: .max, outcome: .accepted),
      PushReport(ticket: 1 << 40, outcome: .accepted),
    ]
    #expect(inFlight.record(strangers, at: .zero).isEmpty)
    #expect(!inFlight.hasFinished)
    let last = PushReport(ticket: requests[1].ticket, outcome: .unanswered(.timeout))
    #expect(inFlight.record([last], at: .zero).isEmpty)
    #expect(inFlight.takeFinished(atMost: 1).first?.outcomes == [.accepted, .unanswered(.timeout)])
  }

  @Test func `R102: the ID of Apple's console joins the row of its push`() throws {
    var inFlight = InFlight()
    let requests = inFlight.add(
      RideClaim(rideID: "r", fence: 1), try decision(pushes: 2), claimNumber: 1,
      deadline: .seconds(5))
    let reports = [
      PushReport(ticket: requests[1].ticket, outcome: .accepted, uniqueID: "u-1"),
      PushReport(ticket: requests[0].ticket, outcome: .refused(Refusal(status: 400))),
    ]
    #expect(inFlight.record(reports, at: .zero).isEmpty)
    let ride = try #require(inFlight.takeFinished(atMost: 1).first)
    let outcomes = ride.outcomes.compactMap(\.self)
    let settlement = ride.decision.settled(outcomes, now: Timestamp(epochSeconds: 3)) { 0.5 }
    #expect(settlement.entries.map(\.uniqueID) == [nil, "u-1"])
  }

  @Test func `in any order each ride finishes exactly once, with its own outcomes`() throws {
    var random = SeededGenerator(seed: TestSeed.value(1))
    var inFlight = InFlight()
    var open: [(ticket: UInt64, fence: Int64)] = []
    var finished: [Int64] = []
    for fence in 1...500 as ClosedRange<Int64> {
      let pushes = Int.random(in: 0...4, using: &random)
      let claim = RideClaim(rideID: "r\(fence)", fence: fence)
      open += inFlight.add(claim, try decision(pushes: pushes), claimNumber: 1, deadline: .zero).map
      {
        ($0.ticket, fence)
      }
      open.shuffle(using: &random)
      for _ in 0..<Int.random(in: 0...3, using: &random) {
        guard let next = open.popLast() else { break }
        let outcome = PushOutcome.refused(Refusal(status: Int(next.fence)))
        _ = inFlight.record([PushReport(ticket: next.ticket, outcome: outcome)], at: nil)
      }
      for ride in inFlight.takeFinished(atMost: 3) {
        finished.append(ride.claim.fence)
        let status = Int(ride.claim.fence)
        #expect(
          ride.outcomes.allSatisfy { $0 == .refused(Refusal(status: status)) })
      }
    }
    let rest = open.map { open in
      PushReport(ticket: open.ticket, outcome: .refused(Refusal(status: Int(open.fence))))
    }
    _ = inFlight.record(rest, at: nil)
    finished += inFlight.takeFinished(atMost: .max).map(\.claim.fence)
    #expect(finished.sorted() == Array(1...500))
  }
}

/// Tests the order of one ride's pushes to one phone.
@Suite struct PhoneOrderTests {
  private static let names = ["requested", "driver_arrived", "ride_completed"]

  /// Returns a decision with three events for two phones each.
  private func decision() throws -> Decision {
    var alert = Alert()
    alert.title = LocalizedText(try TextTemplate("Here"))
    let rules = Self.names.enumerated().map { index, name in
      Rule(
        name: name, app: .customer, when: .on([name]), what: .alert(alert),
        // Later pushes are more urgent.
        expires: .after(.seconds(Int64(300 - index * 100))), source: "test")
    }
    let book = EngineConfiguration(
      rules: RuleSet(
        activeStates: ["requested", "driver_arrived"], finalStates: ["ride_completed"], events: [],
        rules: rules),
      bundleIDs: [.customer: "com.example.customer"], defaultEnvironment: .production)
    var ride = Ride(id: "r", state: "driver_arrived")
    ride.customerID = "c"
    let phones = [1, 2].map { Phone(id: $0, app: .customer, ownerID: "c", token: "aa0\($0)") }
    let events = Self.names.enumerated().map { index, name in
      RideEvent(id: Int64(index + 1), name: name, at: Timestamp(epochSeconds: 1))
    }
    return decide(
      RideView(rideID: "r", ride: ride, events: events, phones: phones), by: book,
      now: Timestamp(epochSeconds: 2))
  }

  private func report(_ request: PushRequest, _ outcome: PushOutcome) -> [PushReport] {
    [PushReport(ticket: request.ticket, outcome: outcome)]
  }

  @Test func `each follows the one before it to the same phone, whatever holds up the other`()
    throws
  {
    let decision = try decision()
    var inFlight = InFlight()
    var sent = inFlight.add(
      RideClaim(rideID: "r", fence: 1), decision, claimNumber: 1, deadline: .seconds(5))
    #expect(sent.map(\.headers.id) == decision.pushes.prefix(2).map(\.headers.id))
    // Urgency belongs to the ride: all of its pushes have the urgency of the most urgent one.
    #expect(Set(sent.map(\.validUntil)) == [Timestamp(epochSeconds: 101)])
    var order = [sent[0].headers.id]
    for outcome in [PushOutcome.accepted, .refused(Refusal(status: 400, reason: "BadTopic"))] {
      sent = inFlight.record(report(sent[0], outcome), at: .seconds(1))
      #expect(sent.count == 1)
      order += sent.map(\.headers.id)
    }
    #expect(order == [0, 2, 4].map { decision.pushes[$0].headers.id })
    #expect(inFlight.record(report(sent[0], .accepted), at: .seconds(1)).isEmpty)
    #expect(!inFlight.hasFinished)
  }

  @Test(arguments: [
    PushOutcome.refused(Refusal(status: 503, reason: "Shutdown")), .unanswered(.timeout),
    .unsent(.refusedStream), .unsent(.paused(for: .seconds(1))), .unsent(.closed),
  ])
  func `pushes behind a retried one are held back`(outcome: PushOutcome) throws {
    var inFlight = InFlight()
    let sent = inFlight.add(
      RideClaim(rideID: "r", fence: 1), try decision(), claimNumber: 1, deadline: .seconds(5))
    #expect(inFlight.record(report(sent[0], outcome), at: .zero).isEmpty)
    #expect(inFlight.record(report(sent[1], outcome), at: .zero).isEmpty)
    let held = PushOutcome.unsent(.queuedBehind)
    #expect(
      inFlight.takeFinished(atMost: 1).first?.outcomes
        == [outcome, outcome, held, held, held, held])
  }

  @Test(arguments: [Duration.seconds(5), nil])
  func `after the ride's time, and at a stop, nothing follows`(uptime: Duration?) throws {
    var inFlight = InFlight()
    let sent = inFlight.add(
      RideClaim(rideID: "r", fence: 1), try decision(), claimNumber: 1, deadline: .seconds(5))
    for request in sent { #expect(inFlight.record(report(request, .accepted), at: uptime).isEmpty) }
    #expect(
      inFlight.takeFinished(atMost: 1).first?.outcomes.dropFirst(2)
        .allSatisfy { $0 == .unsent(.queuedBehind) } == true)
  }
}

@Suite struct AsyncSignalTests {
  @Test func `a ring before the wait spares it; several are one`() async {
    let signal = AsyncSignal()
    signal.notify()
    signal.notify()
    await signal.wait(on: ContinuousClock())
    // A second signal is not left over: this wait ends at its limit.
    await signal.wait(atMost: .milliseconds(1), on: ContinuousClock())
  }

  @Test func `a waiter is always resumed after a signal`() async {
    let signal = AsyncSignal()
    await withTaskGroup { group in
      let ringing = Task {
        while !Task.isCancelled {
          signal.notify()
          await Task.yield()
        }
      }
      group.addTask {
        for _ in 0..<2_000 { await signal.wait(on: ContinuousClock()) }
        ringing.cancel()
      }
    }
  }

  @Test func `the shortest limit ends a wait as well`() async {
    let signal = AsyncSignal()
    for _ in 0..<200 { await signal.wait(atMost: .nanoseconds(1), on: ContinuousClock()) }
  }

  @Test func `the database's time advances between its answers`() {
    let uptime = Mutex(Duration.seconds(5))
    let time = DatabaseClock(
      wall: { Timestamp(epochSeconds: 7) }, uptime: { uptime.withLock { $0 } })
    #expect(time.now == Timestamp(epochSeconds: 7))
    #expect(time.record(Timestamp(epochSeconds: 100), requestedAt: .seconds(4)) == .seconds(93))
    uptime.withLock { $0 = .seconds(8) }
    #expect(
      time.now == Timestamp(epochSeconds: 104) && time.earliest == Timestamp(epochSeconds: 103))
  }

  /// Readings as (the clock's time, asked at, answered at), and the clock's bounds at zero.
  @Test(
    arguments: [
      ([(100, 4, 5)], 95...96),
      // An answer that was delayed for nine seconds does not set the clock back.
      ([(100, 4, 5), (110, 15, 24)], 95...95), ([(100, 4, 5), (110, 14, 24)], 95...96),
      // A delayed request does not set the clock ahead.
      ([(100, 4, 5), (120, 16, 25)], 95...96),
      // A precise reading narrows the bounds of an imprecise one.
      ([(100, 0, 9), (110, 15, 15)], 95...95),
      // The clock was set.
      ([(100, 4, 5), (150, 15, 16)], 134...135), ([(100, 4, 5), (90, 14, 15)], 75...76),
      // A local clock that goes backwards is invalid, but does not trap.
      ([(100, 5, 4)], 96...96),
    ] as [([(Int64, Int64, Int64)], ClosedRange<Int64>)])
  func `bounds of a clock`(readings: [(Int64, Int64, Int64)], expected: ClosedRange<Int64>) throws {
    let all = readings.map { reading, asked, answered in
      ClockBounds(
        Timestamp(epochSeconds: reading), asked: .seconds(asked), answered: .seconds(answered))
    }
    var bounds = try #require(all.first)
    for other in all.dropFirst() { bounds.learn(other) }
    #expect(bounds.earliest.epochSeconds == expected.lowerBound)
    #expect(bounds.latest.epochSeconds == expected.upperBound)
  }
}
