import Testing

@testable import RideCore

/// R23: bytes written by hand from Apple's page "Starting and updating Live Activities with
/// ActivityKit push notifications", with sorted keys, as in all our JSON.
@Suite("The payload of a card") struct CardVectorTests {
  private func payload(_ stage: CardStage) -> String? {
    stage.wire.last.map { String(decoding: $0.push.payload, as: UTF8.self) }
  }

  @Test func `R23: start`() {
    var stage = CardStage()
    stage.life.relevanceScore = 75
    stage.life.wantsPushToken = true
    var alert = CardAlert()
    alert.titleKey = Alert.LocalizedKey(
      key: Sample.text("%@ is on an adventure!"), arguments: [Sample.text("{{ride.id}}")])
    alert.body = LocalizedText(Sample.text("Open the app"))
    alert.sound = Sample.text("HeroSound.mp4")
    stage.life.alerts = ["driver_assigned": alert]
    stage.offerStart()
    stage.state("driver_assigned")
    stage.run()
    #expect(
      payload(stage) == """
        {"aps":{"alert":{"body":"Open the app","sound":"HeroSound.mp4","title":\
        {"loc-args":["r1"],"loc-key":"%@ is on an adventure!"}},\
        "attributes":{"rideId":"r1"},"attributes-type":"RideAttributes",\
        "content-state":{"eta":0,"status":"driver_assigned"},"event":"start",\
        "input-push-token":1,"relevance-score":75,"stale-date":1800000120,\
        "timestamp":1800000000}}
        """)
  }

  @Test func `R23: start on a channel`() {
    var stage = CardStage()
    stage.life.pushChannel = Sample.text("dHN0LXNyY2gtY2hubA==")
    stage.life.attributes = [:]
    stage.offerStart()
    stage.state("driver_assigned")
    stage.run()
    #expect(
      payload(stage) == """
        {"aps":{"alert":{"title":"Driver assigned"},"attributes":{},\
        "attributes-type":"RideAttributes","content-state":{"eta":0,"status":"driver_assigned"},\
        "event":"start","input-push-channel":"dHN0LXNyY2gtY2hubA==","stale-date":1800000120,\
        "timestamp":1800000000}}
        """)
  }

  @Test func `R23: update, quiet and aloud`() {
    var stage = CardStage()
    stage.register()
    stage.run(for: .seconds(30))
    #expect(
      payload(stage) == """
        {"aps":{"content-state":{"eta":0,"status":"requested"},"event":"update",\
        "stale-date":1800000120,"timestamp":1800000000}}
        """)
    stage.state("driver_arrived")
    stage.run()
    #expect(
      payload(stage) == """
        {"aps":{"alert":{"title":"Your driver is here"},\
        "content-state":{"eta":0,"status":"driver_arrived"},"event":"update",\
        "stale-date":1800000150,"timestamp":1800000030}}
        """)
  }

  @Test(arguments: [
    (Duration.seconds(600), #""dismissal-date":1800000630,"#),
    (.zero, #""dismissal-date":1800000030,"#), (nil, ""),
  ])
  func `R23: end`(dismissAfter: Duration?, dismissal: String) {
    var stage = CardStage()
    stage.life.dismissAfter = dismissAfter
    stage.register()
    stage.run(for: .seconds(30))
    stage.state("ride_completed")
    stage.run()
    #expect(
      payload(stage) == """
        {"aps":{"content-state":{"eta":0,"status":"ride_completed"},\(dismissal)"event":"end",\
        "timestamp":1800000030}}
        """)
  }

  @Test func `R23: the headers`() throws {
    var stage = CardStage()
    stage.register()
    stage.run(for: .seconds(30))
    stage.state("ride_completed")
    stage.run()
    let (update, end) = (stage.wire[0].push.headers, stage.wire[1].push.headers)
    #expect(update.pushType.rawValue == "liveactivity")
    #expect(update.topic == "com.example.customer.push-type.liveactivity")
    #expect(update.expiration.epochSeconds == 1_800_000_120)
    // For a phone that is off, an end is stored for as long as the card could remain there.
    #expect(end.expiration.epochSeconds == 1_800_043_200)
    #expect(update.collapseID == end.collapseID && update.id != end.id)
    var configuration = stage.configuration
    configuration.widgetBundleIDs = [.customer: "com.example.customer.widget"]
    stage = CardStage()
    stage.register()
    let push = try #require(decide(stage.view, by: configuration, now: stage.now).pushes.first)
    #expect(push.headers.topic == "com.example.customer.widget.push-type.liveactivity")
  }
}
