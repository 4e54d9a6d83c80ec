import Base
import RideCore
import Testing
import TestSupport

@testable import Orchestrator

@Suite("Pushes that end before the transport reports them") struct WithdrawnPushTests {
  private static let start = Timestamp(epochSeconds: 1_800_000_000)

  /// Returns a ride with an alert for each of the phones of its customer.
  static func decision(_ ride: RideID, _ platforms: [Platform]) throws -> Decision {
    try decide(view(ride, platforms), by: EngineTests.configuration(), now: start)
  }

  static func view(_ id: RideID, _ platforms: [Platform]) -> RideView {
    var ride = Ride(id: id, state: "driver_arrived")
    ride.customerID = "c"
    let phones = platforms.enumerated().map { index, platform in
      var phone = Phone(
        id: Int64(index + 1), app: .customer, ownerID: "c",
        token: platform == .ios ? "aabb" : "cX3fUGh9R0uVxK2mQ7wE1a")
      phone.platform = platform
      return phone
    }
    let event = RideEvent(id: 1, name: "driver_arrived", at: start)
    return RideView(rideID: id, ride: ride, events: [event], phones: phones)
  }

  private static func add(
    _ ride: RideID, _ platforms: [Platform], to inFlight: inout InFlight, at seconds: Double = 0
  ) throws -> [PushRequest] {
    let requests = inFlight.add(
      RideClaim(rideID: ride, fence: 1), try decision(ride, platforms), claimNumber: 1,
      deadline: .seconds(1000))
    inFlight.sent(requests, at: .seconds(seconds))
    return requests
  }

  private static func android(_ inFlight: InFlight) -> [InFlight.OpenPush] {
    inFlight.openPushes.filter { $0.lane.network == .android }
  }

  @Test func `a node that holds no ride frees their memory`() throws {
    var inFlight = InFlight()
    let requests = try Self.add("r", [.ios], to: &inFlight)
    inFlight.releaseUnused()
    #expect(inFlight.slots.count == 1, "its push is in flight")
    let reports = requests.map { PushReport(ticket: $0.ticket, outcome: .accepted) }
    _ = inFlight.record(reports, at: .zero)
    inFlight.releaseUnused()
    #expect(inFlight.slots.count == 1, "it is not settled")
    inFlight.settled(inFlight.takeFinished(atMost: 9).count)
    inFlight.releaseUnused()
    #expect(inFlight.slots.capacity == 0)
    // Reports that come later match no ride.
    #expect(inFlight.record(reports, at: .zero).isEmpty)
    #expect(inFlight.count == 0 && !inFlight.hasFinished)
    #expect(try Self.add("s", [.ios], to: &inFlight).map(\.ticket) == requests.map(\.ticket))
  }

  @Test func `the slot of a withdrawn push is kept until the transport reports it`() throws {
    var inFlight = InFlight()
    let requests = try Self.add("r", [.ios, .android], to: &inFlight)
    inFlight.withdraw(Self.android(inFlight), at: .seconds(2))
    _ = inFlight.record(
      requests.map { PushReport(ticket: $0.ticket, outcome: .accepted) }, at: .seconds(2))
    inFlight.settled(inFlight.takeFinished(atMost: 9).count)
    inFlight.releaseUnused()
    #expect(inFlight.slots.count == 1)
    for request in requests { _ = inFlight.removeWithdrawn(request.ticket) }
    inFlight.releaseUnused()
    #expect(inFlight.slots.isEmpty)
  }

  @Test(
    arguments: [([.ios, .android], true), ([.android], false), ([.android, .android], false)]
      as [([Platform], Bool)])
  func `a push ends early if phones of another service wait for its ride`(
    platforms: [Platform], ends: Bool
  ) throws {
    var inFlight = InFlight()
    let requests = try Self.add("r", platforms, to: &inFlight)
    inFlight.withdraw(Self.android(inFlight), at: .seconds(2))
    let accepted = requests.filter { $0.network == .production }
      .map { PushReport(ticket: $0.ticket, outcome: .accepted) }
    #expect(inFlight.record(accepted, at: .seconds(2)).isEmpty)
    let finished = inFlight.takeFinished(atMost: 9)
    #expect(finished.map(\.outcomes) == (ends ? [[.accepted, .unanswered(.timeout)]] : []))
  }

  @Test(arguments: [(false, true), (true, false)])
  func `a push that may repeat ends early if another node reaches its service`(
    startsCard: Bool, ends: Bool
  ) throws {
    for handsOver in [false, true] {
      var inFlight = InFlight()
      var decision = try Self.decision("r", [.ios])
      decision.pushes[0].entry.startToken = startsCard ? 7 : nil
      let requests = inFlight.add(
        RideClaim(rideID: "r", fence: 1), decision, claimNumber: 1, deadline: .seconds(1000))
      inFlight.sent(requests, at: .zero)
      inFlight.withdraw(inFlight.openPushes, handsOver: handsOver, at: .seconds(2))
      #expect(inFlight.hasFinished == (handsOver && ends))
    }
  }

  @Test func `a ride with a card on an iPhone does not wait for an Android phone`() throws {
    var inFlight = InFlight()
    var view = Self.view("r", [.android])
    view.cards = [
      Card(.activity(1), app: .customer, ownerID: "c", token: "aa", registeredAt: Self.start)
    ]
    let requests = inFlight.add(
      RideClaim(rideID: "r", fence: 1),
      decide(view, by: try EngineTests.configuration(), now: Self.start), claimNumber: 1,
      deadline: .seconds(1000))
    #expect(requests.map(\.network) == [.android])
    inFlight.sent(requests, at: .zero)
    inFlight.withdraw(Self.android(inFlight), at: .seconds(2))
    #expect(inFlight.hasFinished)
  }

  @Test(
    arguments: [([.android], false), ([.ios], false), ([.android, .ios], true)]
      as [([Platform], Bool)])
  func `a post reaches no other service`(platforms: [Platform], ends: Bool) throws {
    var inFlight = InFlight()
    var decision = try Self.decision("r", platforms)
    var post = try #require(decision.pushes.first)
    post.request.address = .post(PostAddress(receiver: "sms", rule: "r"))
    post.request.network = platforms == [.ios] ? .android : .production
    post.request.lane = post.lane.app.rawValue
    post.entry.phone = nil
    decision.pushes.append(post)
    let requests = inFlight.add(
      RideClaim(rideID: "r", fence: 1), decision, claimNumber: 1, deadline: .seconds(1000))
    inFlight.sent(requests, at: .zero)
    let ofPhones = inFlight.openPushes.filter { !$0.lane.isOfPosts }
    #expect(ofPhones.count == platforms.count)
    inFlight.withdraw(ofPhones, at: .seconds(2))
    #expect(inFlight.withdrawn.isEmpty == !ends)
  }

  @Test func `a late report hits no other ride`() throws {
    var inFlight = InFlight()
    let first = try Self.add("first", [.android, .ios], to: &inFlight)
    inFlight.withdraw(inFlight.openPushes, at: .seconds(2))
    #expect(inFlight.takeFinished(atMost: 9).count == 1)
    inFlight.settled(1)
    let second = try Self.add("second", [.android, .ios], to: &inFlight, at: 2)
    #expect(Set(first.map(\.ticket)).isDisjoint(with: second.map(\.ticket)))
    for request in first {
      #expect(inFlight.removeWithdrawn(request.ticket) != nil)
      #expect(inFlight.removeWithdrawn(request.ticket) == nil)
      let late = PushReport(ticket: request.ticket, outcome: .accepted)
      #expect(inFlight.record([late], at: .seconds(3)).isEmpty)
    }
    #expect(!inFlight.hasFinished)
    // The transport has none of its pushes any longer, so the slot is used again.
    let third = try Self.add("third", [.android, .ios], to: &inFlight, at: 3)
    #expect(third.map(\.ticket) == first.map(\.ticket))
  }

  @Test func `a push that may have no stream stays until the transport returns it`() throws {
    var inFlight = InFlight()
    let requests = try Self.add("r", [.android, .ios], to: &inFlight)
    let ticket = try #require(requests.first { $0.network == .android }).ticket
    func ends(_ seconds: Double) -> Bool {
      var copy = inFlight
      copy.withdraw(Self.android(copy), at: .seconds(seconds))
      return Self.android(copy).allSatisfy(\.isWithdrawn)
    }
    #expect(!ends(1.4) && ends(1.5))
    inFlight.returned(ticket, at: .seconds(4))
    #expect(Self.android(inFlight).isEmpty, "the engine reads its recipient again")
    inFlight.sent(requests.filter { $0.ticket == ticket }, at: .seconds(9))
    #expect(!ends(10.4) && ends(10.5))
    let open = Self.android(inFlight)
    #expect(open.map(\.sentAt) == [.zero], "since its first hand-over")
    #expect(open.map(\.held) == [.seconds(5)])
    inFlight.returned(ticket, at: .seconds(10))
    inFlight.sent(requests.filter { $0.ticket == ticket }, at: .seconds(12))
    #expect(Self.android(inFlight).map(\.held) == [.seconds(7)])
    #expect(inFlight.target(of: ticket)?.sentAt == .seconds(7), "its latency is without that")
  }

  @Test(arguments: TestSeed.values(20))
  func `random schedules: every ride ends once, by its own reports`(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    var inFlight = InFlight()
    /// What the transport has: the ride of each ticket.
    var transport: [UInt64: Int] = [:]
    var ended: [RideID: [PushOutcome?]] = [:]
    let decision = try Self.decision("r", [.android, .ios])
    var late = 0
    for step in 0..<400 {
      let uptime = Duration.seconds(step)
      let requests = inFlight.add(
        RideClaim(rideID: RideID("\(step)"), fence: 1), decision, claimNumber: 1,
        deadline: .seconds(1000))
      inFlight.sent(requests, at: uptime)
      for request in requests {
        #expect(transport.updateValue(step, forKey: request.ticket) == nil, "a ticket of two rides")
      }
      if Int.random(in: 0..<4, using: &random) == 0 {
        inFlight.withdraw(Self.android(inFlight), at: uptime)
      }
      let reported = transport.keys.sorted().filter { _ in Bool.random(using: &random) }
      for ticket in reported {
        let ride = transport.removeValue(forKey: ticket) ?? 0
        if inFlight.removeWithdrawn(ticket) != nil { late += 1 }
        // The status tells whose report it is.
        let answer = PushOutcome.refused(Refusal(status: ride))
        _ = inFlight.record([PushReport(ticket: ticket, outcome: answer)], at: uptime)
      }
      for ride in inFlight.takeFinished(atMost: 1000) {
        #expect(ended.updateValue(ride.outcomes, forKey: ride.claim.rideID) == nil)
      }
    }
    #expect(late > 0 && ended.count > 300)
    for (ride, outcomes) in ended {
      for outcome in outcomes {
        if outcome == .unanswered(.timeout) { continue }
        #expect(outcome == .refused(Refusal(status: Int(ride.text) ?? -1)), "seed \(seed)")
      }
    }
    let isDrained = transport.isEmpty
    #expect(inFlight.hasOpen == !isDrained)
  }
}
