import Base
import Testing

@testable import RideCore
@testable import Timeline

@Suite("R82: topics and samples") struct TopicTests {
  private func book(_ topic: Topic?, sample: String? = nil) throws -> EngineConfiguration {
    var rule = Sample.rule()
    rule.limits.topic = topic
    rule.limits.sample = try sample.map { try #require(OwnerSample(text: $0)) }
    return Sample.book([rule])
  }

  private func view(optedOutOf topic: Topic, app: App = .customer, owner: OwnerID = "c") -> RideView
  {
    var view = Sample.view(phones: [Sample.phone()])
    view.optOuts = [OptOut(app: app, owner: owner, topic: topic)]
    return view
  }

  @Test func `a topic that is off suppresses the push`() throws {
    let decision = decide(view(optedOutOf: "news"), by: try book("news"), now: Sample.now)
    #expect(decision.pushes.isEmpty)
    #expect(decision.reasons == ["suppressed: the owner has turned news off"])
    #expect(decision.ended.first?.reason?.code == .engine(.optedOut))
  }

  @Test func `a rule without a topic, and other topics, owners and apps are not concerned`() throws
  {
    let cases: [(Topic?, RideView)] = [
      (nil, view(optedOutOf: "news")), ("arrival", view(optedOutOf: "news")),
      ("news", view(optedOutOf: "news", owner: "e")),
      ("news", view(optedOutOf: "news", app: .driver)),
    ]
    for (topic, view) in cases {
      #expect(decide(view, by: try book(topic), now: Sample.now).pushes.count == 1)
    }
  }

  @Test func `a retry asks again`() throws {
    let book = try book("news")
    var view = Sample.view(phones: [Sample.phone()])
    let first = decide(view, by: book, now: Sample.now)
    view.apply(first.settled([.refused(Refusal(status: 503))], now: Sample.now) { 0 })
    view.optOuts = [OptOut(app: .customer, owner: "c", topic: "news")]
    let later = Sample.now + .seconds(60)
    #expect(decide(view, by: book, now: later).ended.map(\.reason?.code) == [.engine(.optedOut)])
  }

  @Test(
    arguments: [
      ("10%", 100_000, "10%"), ("0.5%", 5000, "0.5%"), ("100%", 1_000_000, "100%"),
      ("0.0001%", 1, "0.0001%"), ("33.30%", 333_000, "33.3%"), ("007%", 70_000, "7%"),
    ] as [(String, UInt64, String)])
  func `a sample is a percentage`(text: String, millionths: UInt64, shown: String) throws {
    let sample = try #require(OwnerSample(text: text))
    #expect(sample.millionths == millionths && sample.text == shown)
  }

  @Test(arguments: [
    "0%", "0.0%", "100.1%", "101%", "1000%", "10", "%", ".5%", "5.%", "-1%", "+1%", "1e1%", "1,5%",
    "0.00001%", "1.2.3%", "١%", " 1%", "",
  ])
  func `any other text is none`(text: String) { #expect(OwnerSample(text: text) == nil) }

  @Test func `a sample always has the same owners, in its share`() throws {
    let sample = try #require(OwnerSample(text: "10%"))
    let all = (0..<20_000).map { OwnerID("owner-\($0)") }
    let chosen = all.filter { sample.contains($0, of: "news") }
    #expect((1850...2150).contains(chosen.count))
    // Rules of other names choose independently.
    let both = chosen.filter { sample.contains($0, of: "receipts") }
    #expect((140...260).contains(both.count))
    // A larger share contains the smaller one.
    let larger = try #require(OwnerSample(text: "20%"))
    #expect(chosen.allSatisfy { larger.contains($0, of: "news") })
    let whole = try #require(OwnerSample(text: "100%"))
    #expect(all.allSatisfy { whole.contains($0, of: "news") })
    // The hash is a promise to data analysts: sha256("news/owner-0") begins with these 32 bits.
    #expect(OwnerSample.hash("owner-0", of: "news") == 0xbe53650c)
  }

  @Test func `owners outside the sample get nothing`() throws {
    let book = try book(nil, sample: "50%")
    var seen: Set<Bool> = []
    for number in 0..<20 {
      var ride = Sample.ride()
      ride.customerID = "c\(number)"
      let phone = Sample.phone(owner: OwnerID("c\(number)"))
      let decision = decide(
        Sample.view(ride: ride, phones: [phone]), by: book, now: Sample.now)
      seen.insert(decision.pushes.isEmpty)
      #expect(decision.ended.allSatisfy { $0.reason?.code == .engine(.notInSample) })
      #expect(
        decision.reasons
          == (decision.pushes.isEmpty ? ["suppressed: not in the sample of 50%"] : []))
    }
    #expect(seen == [true, false])
  }
}
