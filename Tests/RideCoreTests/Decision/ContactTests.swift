import Base
import Testing

@testable import RideCore

@Suite("Recent contact") struct ContactTests {
  private func book(_ limit: Duration?) -> EngineConfiguration {
    var rule = Sample.rule()
    rule.unlessContactWithin = limit
    return Sample.book([rule])
  }

  private func view(heard ago: Duration?) -> RideView {
    var phone = Sample.phone()
    phone.contactedAt = ago.map { Sample.now - $0 }
    return Sample.view(phones: [phone])
  }

  static let cases: [(limit: Duration?, ago: Duration?, reason: String?)] = [
    (.seconds(300), .seconds(40), "the phone was in contact 40 s ago"),
    (.seconds(300), .milliseconds(299_999), "the phone was in contact 299 s ago"),
    (.seconds(300), .zero, "the phone was in contact 0 s ago"),
    // The contact is later than `now`: the database's clock advanced during the decision.
    (.seconds(300), .seconds(-2), "the phone was in contact 0 s ago"),
    (.seconds(300), .seconds(300), nil), (.seconds(300), .seconds(4000), nil),
    (.seconds(300), nil, nil), (nil, .seconds(1), nil),
  ]

  @Test(arguments: cases.indices)
  func `receives nothing from the rule for the stated time`(index: Int) {
    let (limit, ago, reason) = Self.cases[index]
    let decision = decide(view(heard: ago), by: book(limit), now: Sample.now)
    #expect(decision.pushes.count == (reason == nil ? 1 : 0))
    #expect(decision.reasons == (reason.map { ["suppressed: \($0)"] } ?? []))
    #expect(decision.ended.allSatisfy { $0.reason?.code == .engine(.recentContact) })
  }

  @Test func `is asked about again before a retry`() throws {
    let first = decide(view(heard: nil), by: book(.seconds(300)), now: Sample.now)
    let push = try #require(first.pushes.first)
    var view = view(heard: .seconds(10))
    view.events = []
    view.memo.waiting = [WaitingItem(entry: push.entry, wait: .retry(at: Sample.now))]
    let again = decide(view, by: book(.seconds(300)), now: Sample.now)
    #expect(
      again.pushes.isEmpty && again.reasons == ["suppressed: the phone was in contact 10 s ago"])
  }
}
