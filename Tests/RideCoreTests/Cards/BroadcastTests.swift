import Base
import Testing

@testable import RideCore
@testable import Timeline

@Suite("A broadcast card") struct BroadcastTests {
  private static let id = "dHN0LXNyY2gtY2hubA=="

  private func stage(_ storage: ChannelStorage = .latest) -> CardStage {
    var stage = CardStage(start: [])
    stage.life.broadcast = storage
    stage.phones = []
    return stage
  }

  /// Returns the stage with an open channel.
  private func open(_ storage: ChannelStorage = .latest) -> CardStage {
    var stage = stage(storage)
    stage.open(Self.id, storage)
    return stage
  }

  @Test func `an active ride states its need of a channel until it has one`() {
    var stage = stage()
    stage.state("requested")
    stage.claim()
    #expect(stage.needs == [ChannelNeed(app: .customer, storage: .latest)])
    #expect(stage.due == stage.now + .seconds(60) && stage.wire.isEmpty)
    stage.channels = [stage.channel(.creating)]
    stage.wait(10)
    stage.claim()
    #expect(stage.needs.isEmpty && stage.due == CardStage.start + .seconds(60))
    stage.wait(50)
    stage.claim()
    #expect(stage.needs.count == 1, "whoever asked has died")
  }

  @Test(arguments: ["ride_completed", "elsewhere"])
  func `a ride that is not active needs none`(state: String) {
    var stage = stage()
    stage.state(state)
    stage.claim()
    #expect(stage.needs.isEmpty && stage.due == nil)
  }

  @Test func `a rule may want channels in some states only, and an open one stays open`() {
    var stage = stage()
    stage.life.broadcastStates = ["driver_en_route"]
    stage.state("requested")
    stage.claim()
    #expect(stage.needs.isEmpty && stage.due == nil)
    stage.state("driver_en_route")
    stage.claim()
    #expect(stage.needs.count == 1)
    stage.open(Self.id, .latest)
    stage.state("ride_started")
    stage.run()
    #expect(stage.wire.map(\.status) == ["ride_started"])
  }

  @Test
  func
    `a refused channel is recorded once, with its meaning, and requested again after ten minutes`()
  {
    var stage = stage()
    stage.state("requested")
    stage.channels = [stage.channel(.refused("FeatureNotEnabled"))]
    stage.emit(InternalEvent.channelRefused.rawValue)
    stage.claim()
    #expect(stage.needs.isEmpty && stage.due == CardStage.start + .seconds(600))
    #expect(
      stage.reasons == [
        "suppressed: no channel: FeatureNotEnabled: the app may not broadcast; enable the "
          + "Broadcast Capability of its App ID in Apple's developer portal"
      ])
    stage.wait(300)
    stage.state("driver_assigned")
    stage.claim()
    #expect(stage.ledger.count == 1 && stage.needs.isEmpty)
    stage.wait(300)
    stage.claim()
    #expect(stage.needs.count == 1)
  }

  @Test func `all watchers receive changes and the end`() throws {
    var stage = open()
    stage.state("requested")
    stage.run(for: .seconds(30))
    stage.state("driver_arrived")
    stage.run(for: .seconds(30))
    stage.state("ride_completed")
    stage.run()
    #expect(stage.wire.map(\.event) == ["update", "update", "end"])
    #expect(stage.wire.map(\.status) == ["requested", "driver_arrived", "ride_completed"])
    #expect(stage.wire.map(\.token) == [Self.id, Self.id, Self.id])
    #expect(stage.wire.map(\.priority) == [5, 10, 10])
    #expect(stage.wire[1].title == "Your driver is here")
    #expect(stage.gone.map(\.kind) == [.channel] && stage.gone.map(\.id) == [7])
    #expect(stage.gone.map(\.reason) == ["ended"])
    #expect(stage.due == nil)
  }

  @Test(arguments: [
    (ChannelStorage.nothing, [0, 0]), (.latest, [120, 8 * 3600]),
  ])
  func `the expiration is that of the channel's storage`(storage: ChannelStorage, seconds: [Int]) {
    var stage = open(storage)
    stage.state("requested")
    stage.run()
    stage.state("ride_completed")
    stage.run()
    let expirations = stage.wire.map(\.push.headers.expiration)
    let expected = seconds.map { seconds -> PushExpiration in
      seconds == 0 ? .neverStore : .at(CardStage.start + .seconds(seconds))
    }
    #expect(expirations == expected)
  }

  @Test func `a broadcast that is true for long is stored for eight hours at most`() {
    var stage = open()
    stage.expires = .after(.seconds(24 * 3600))
    stage.state("requested")
    stage.run()
    #expect(
      stage.wire.map(\.push.headers.expiration) == [.at(CardStage.start + .seconds(8 * 3600))])
  }

  @Test func `R33: timestamps rise, whatever the clock does`() {
    var stage = open()
    stage.life.minInterval = .zero
    stage.state("requested")
    for step in 0..<20 {
      stage.eta(step)
      stage.wait(step % 3 == 0 ? -7 : 0.2)
      stage.run()
    }
    let stamps = stage.wire.map(\.timestamp)
    #expect(stamps.count >= 20 && zip(stamps, stamps.dropFirst()).allSatisfy { $0 < $1 })
  }

  @Test func `a channel does not grow old, and its end may come after many hours`() {
    var stage = open()
    stage.state("requested")
    stage.run(for: .seconds(13 * 3600))
    #expect(stage.wire.allSatisfy { $0.event == "update" })
    stage.state("ride_completed")
    stage.run()
    #expect(stage.wire.last?.event == "end")
  }

  @Test func `R73: the channel of a ride that nobody changes ends after a day`() {
    var stage = open()
    stage.state("requested")
    stage.run(for: .seconds(86_399))
    #expect(stage.wire.last?.event == "update" && stage.gone.isEmpty)
    stage.run(for: .seconds(2))
    #expect(stage.wire.last?.event == "end" && stage.gone.map(\.kind) == [.channel])
    #expect(stage.reasons.contains("accepted: the ride had no event for 1d"))
  }

  @Test func `with lost-after a silent ride's channel ends`() {
    var stage = open()
    stage.life.lostAfter = .seconds(3600)
    stage.state("requested")
    stage.run(for: .seconds(3601))
    #expect(stage.wire.last?.event == "end" && stage.gone.map(\.kind) == [.channel])
  }

  @Test func `the longest lost-after counts from the last event, not from the channel's opening`() {
    var stage = open()
    let longest = LiveActivity.ageLimit
    #expect(longest == .seconds(7 * 3600 + 45 * 60))
    stage.life.lostAfter = longest
    stage.state("requested")
    stage.run(for: longest - .seconds(1))
    // A ride that goes on keeps its channel for longer than that.
    for _ in 0..<3 {
      stage.emit("eta_changed")
      stage.run(for: longest - .seconds(1))
      #expect(stage.wire.last?.event == "update" && stage.gone.isEmpty)
    }
    #expect(stage.now - CardStage.start > .seconds(24 * 3600))
    stage.run(for: .seconds(2))
    #expect(stage.wire.last?.event == "end" && stage.gone.map(\.kind) == [.channel])
    #expect(stage.reasons.contains("accepted: the ride had no event for 7h45m"))
  }

  @Test(arguments: ["card_registered", "ride_updated"])
  func `R73: a ride whose channel is over gets another one with its next news`(event: String) {
    var stage = stage()
    stage.channels = [stage.channel(.over)]
    stage.state("requested")
    stage.claim()
    stage.needs = []
    stage.wait(100)
    stage.emit(event)
    stage.claim()
    #expect(stage.needs.count == (event == "ride_updated" ? 1 : 0))
  }

  @Test(arguments: ["ChannelNotRegistered", "BadChannelId"])
  func `a channel that is gone is replaced`(reason: String) {
    var stage = open()
    stage.state("requested")
    stage.wait(100)
    stage.claim { _ in .refused(400, reason) }
    #expect(stage.gone == [TokenInvalidation(kind: .channel, id: 7, since: nil, reason: reason)])
    #expect(stage.due == stage.now)
    stage.claim()
    #expect(stage.needs.count == 1)
    stage.open("bmV3LWNoYW5uZWw=", .latest, id: 8)
    stage.emit("channel_opened")
    stage.run()
    #expect(stage.wire.map(\.token) == ["bmV3LWNoYW5uZWw="])
  }

  @Test func `while the app may not broadcast, nothing is lost`() {
    var stage = open()
    stage.state("requested")
    stage.run { _ in .refused(400, "BroadcastFeatureNotEnabled") }
    #expect(stage.ledger.values.map(\.status) == [.pending] && stage.wire.isEmpty)
    stage.run(for: .seconds(60))
    #expect(stage.wire.map(\.status) == ["requested"])
  }

  @Test func `5120 bytes go, one more does not`() throws {
    var stage = open()
    // ActivityKit takes less of the content, so custom keys fill the payload.
    stage.life.contentState = ["n": .value(Sample.text("{{ride.attributes.n}}"))]
    stage.data = ["s": .value(Sample.text("{{ride.attributes.s}}"))]
    stage.ride.attributes = #"{"s": "", "n": 9}"#
    stage.state("requested")
    stage.run()
    let bare = try #require(stage.wire.first).push.payload.count
    for (over, count) in [(0, 2), (1, 2)] {
      let text = String(repeating: "x", count: 5120 - bare + over)
      stage.ride.attributes = #"{"s": "\#(text)", "n": \#(over)}"#
      stage.wait(60)
      stage.emit("ride_updated")
      stage.run()
      #expect(stage.wire.count == count)
    }
    #expect(stage.wire.last?.push.payload.count == 5120)
    #expect(
      stage.reasons.contains { $0.hasPrefix("rejected: PayloadTooLarge: 5121 bytes of 5120") })
  }

  @Test func `a card registered with a token is refused once if the rule broadcasts`() {
    var stage = open()
    stage.register()
    stage.run(for: .seconds(300))
    #expect(stage.wire.allSatisfy { $0.token == Self.id })
    #expect(stage.reasons.filter { $0.hasPrefix("suppressed: the rule broadcasts") }.count == 1)
  }

  @Test func `an ordinary alert is sent in addition to the broadcast`() {
    var stage = open()
    stage.phones = [Sample.phone()]
    stage.others = [Sample.rule(on: ["driver_arrived"])]
    stage.state("driver_arrived")
    stage.run()
    #expect(stage.wire.map(\.isCard).sorted { a, _ in a } == [true, false])
  }

  @Test func `a preview takes channels to be made`() throws {
    var stage = stage()
    stage.state("requested")
    let world = World([stage.view], for: stage.configuration)
    var replay = Replay(world, by: stage.configuration, from: stage.now)
    var pushes: [PlannedPush] = []
    while let pass = replay.next(before: stage.now + .seconds(200)) {
      pushes += pass.decision.pushes
    }
    #expect(pushes.map(\.entry.cardEvent) == [.update, .update, .update])
    #expect(pushes.allSatisfy { $0.address.description == "channel preview" })
  }
}

extension CardStage {
  fileprivate func channel(
    _ standing: RideChannel.Standing, _ storage: ChannelStorage = .latest, id: Int64 = 7
  ) -> RideChannel {
    RideChannel(
      id: id, app: .customer, environment: .production, storage: storage, createdAt: now,
      standing: standing)
  }

  fileprivate mutating func open(_ channel: String, _ storage: ChannelStorage, id: Int64 = 7) {
    guard let channel = ChannelID(channel) else { return }
    channels.append(self.channel(.open(channel), storage, id: id))
  }
}
