import Base
import Testing

@testable import RideCore
@testable import Timeline

@Suite("R82: topics") struct TopicTests {
  private func book(_ topic: Topic?) -> EngineConfiguration {
    var rule = Sample.rule()
    rule.limits.topic = topic
    return Sample.book([rule])
  }

  private func view(optedOutOf topic: Topic, app: App = .customer, owner: OwnerID = "c") -> RideView
  {
    var view = Sample.view(phones: [Sample.phone()])
    view.optOuts = [OptOut(app: app, owner: owner, topic: topic)]
    return view
  }

  @Test func `a topic that is off suppresses the push`() {
    let decision = decide(view(optedOutOf: "news"), by: book("news"), now: Sample.now)
    #expect(decision.pushes.isEmpty)
    #expect(decision.reasons == ["suppressed: the owner has turned news off"])
    #expect(decision.ended.first?.reason?.code == .engine(.optedOut))
  }

  @Test func `a rule without a topic, and other topics, owners and apps are not concerned`() {
    let cases: [(Topic?, RideView)] = [
      (nil, view(optedOutOf: "news")), ("arrival", view(optedOutOf: "news")),
      ("news", view(optedOutOf: "news", owner: "e")),
      ("news", view(optedOutOf: "news", app: .driver)),
    ]
    for (topic, view) in cases {
      #expect(decide(view, by: book(topic), now: Sample.now).pushes.count == 1)
    }
  }

  @Test func `a retry asks again`() {
    let book = book("news")
    var view = Sample.view(phones: [Sample.phone()])
    let first = decide(view, by: book, now: Sample.now)
    view.apply(first.settled([.refused(Refusal(status: 503))], now: Sample.now) { 0 })
    view.optOuts = [OptOut(app: .customer, owner: "c", topic: "news")]
    let later = Sample.now + .seconds(60)
    #expect(decide(view, by: book, now: later).ended.map(\.reason?.code) == [.engine(.optedOut)])
  }
}
