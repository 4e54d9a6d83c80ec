import Testing
import TestSupport

@testable import Base
@testable import RideCore
@testable import Timeline

@Suite("R84: at-most over all rides") struct PermitTests {
  @Test func `one push too many is suppressed, and the next window has room again`() {
    let book = Sample.book([PermitSample.rule(2)])
    var store = PermitStage()
    var now = Sample.now
    for number in 0..<3 {
      var view = PermitSample.view(number, at: now)
      store.handle(&view, by: book, at: &now)
      #expect(view.memo.isEmpty)
    }
    #expect(store.sent.count == 2)
    #expect(
      store.reasons == ["accepted: ", "accepted: ", "suppressed: 2 pushes of news within 10m"])
    #expect(store.entries.values.contains { $0.reason?.code == .engine(.overCap) })
    now = now + .seconds(600)
    var view = PermitSample.view(3, at: now)
    store.handle(&view, by: book, at: &now)
    #expect(store.sent.count == 3)
  }

  @Test func `a decision asks for the permits of its pushes, and settles once`() throws {
    let book = Sample.book([PermitSample.rule(1)])
    var view = PermitSample.view(0, at: Sample.now, phones: 2)
    let decision = decide(view, by: book, now: Sample.now)
    #expect(decision.pushes.count == 2 && decision.permitRequests.count == 1)
    let request = try #require(decision.permitRequests.first)
    #expect(request.cap == PushCap(count: 1, per: .seconds(600)))
    #expect(request.permit.owner == "c" && request.permit.pushes == .topic("news"))
    #expect(request.validUntil == Sample.now + .seconds(300))
    let isAgain = view.answer([request], [])
    #expect(!isAgain)
    #expect(decide(view, by: book, now: Sample.now).permitRequests.isEmpty)
    let isRefused = view.answer([request], [request.permit.id])
    #expect(isRefused)
    let refused = decide(view, by: book, now: Sample.now)
    #expect(refused.pushes.isEmpty && refused.permitRequests.isEmpty)
    #expect(refused.ended.map { $0.reason?.code } == [.engine(.overCap), .engine(.overCap)])
  }

  @Test func `two phones of an owner count once`() {
    let book = Sample.book([PermitSample.rule(1)])
    var store = PermitStage()
    var now = Sample.now
    var views = [
      PermitSample.view(0, at: now, phones: 2), PermitSample.view(1, at: now, phones: 2),
    ]
    for index in views.indices { store.handle(&views[index], by: book, at: &now) }
    #expect(store.sent.map(\.entry.event.id) == [0, 0])
  }

  /// Handles a ride every two minutes by the set that decides it, and returns how many pushes were
  /// sent.
  private static func sent(_ one: Rule, _ other: Rule, shared: [Bool]) throws -> Int {
    var book = Sample.book([one])
    let share = try #require(RecordSample(text: "50%"))
    let trial = RuleTrial(Sample.book([other]).rules, for: share)
    book.trial = trial
    var (store, now) = (PermitStage(), Sample.now)
    var numbers = Array(0..<200)
    for isShared in shared {
      let index = try #require(
        numbers.firstIndex { trial.decides(RideID("r\($0)")) == isShared })
      var view = PermitSample.view(numbers.remove(at: index), at: now)
      store.handle(&view, by: book.deciding(view.rideID), at: &now)
      now = now + .seconds(120)
    }
    return store.sent.count
  }

  @Test(arguments: [Topic("news"), nil])
  func `a cap counts the pushes of a second set of rules that has none`(topic: Topic?) throws {
    var (one, other) = (PermitSample.rule(1), PermitSample.rule(nil))
    (one.limits.topic, other.limits.topic) = (topic, topic)
    #expect(try Self.sent(one, other, shared: [true, false]) == 1)
    #expect(try Self.sent(other, one, shared: [false, true]) == 1)
  }

  @Test func `the shorter window of a second set of rules lets no longer one forget`() throws {
    let (one, other) = (PermitSample.rule(2), PermitSample.rule(1, per: .seconds(60)))
    #expect(try Self.sent(one, other, shared: [false, true, false]) == 2)
    #expect(try Self.sent(one, one, shared: [false, true, true]) == 2)
    #expect(try Self.sent(other, one, shared: [true, false, true]) == 2)
  }

  @Test(arguments: [false, true])
  func `the shorter window of another rule of the topic lets no longer one forget`(isLast: Bool) {
    let long = PermitSample.rule(2, "long")
    let short = PermitSample.rule(5, "short", per: .seconds(60), on: "eta_changed")
    let book = Sample.book(isLast ? [long, short] : [short, long])
    var (store, now) = (PermitStage(), Sample.now)
    for number in 0..<3 {
      var view = PermitSample.view(number, at: now)
      store.handle(&view, by: book, at: &now)
      now = now + .seconds(120)
    }
    #expect(store.sent.count == 2)
  }

  @Test func `two events of one instant, and each slot, count on their own`() throws {
    let book = Sample.book([PermitSample.rule(1)])
    var store = PermitStage()
    var now = Sample.now
    var view = PermitSample.view(1, at: now, names: ["driver_arrived", "driver_arrived"])
    store.handle(&view, by: book, at: &now)
    #expect(
      store.reasons == ["accepted: ", "suppressed: 1 push of news within 10m"])
    var rule = PermitSample.rule(2, per: .seconds(3600))
    rule.when = .at(Timing(.every(.seconds(60)), while: ["driver_arrived"]))
    store = PermitStage()
    view = PermitSample.view(2, at: now)
    for _ in 0..<8 {
      store.handle(&view, by: Sample.book([rule]), at: &now)
      now = now + .seconds(60)
    }
    #expect(store.sent.count == 2)
  }

  @Test func `other owners and topics have their own counts`() {
    var other = PermitSample.rule(1, "other")
    other.limits.topic = "offers"
    let book = Sample.book([PermitSample.rule(1), other])
    var store = PermitStage()
    var now = Sample.now
    var views = [
      PermitSample.view(0, at: now), PermitSample.view(1, at: now, owner: "e"),
      PermitSample.view(2, at: now),
    ]
    for index in views.indices { store.handle(&views[index], by: book, at: &now) }
    #expect(store.sent.count == 4)
  }

  @Test func `each rule compares its own count with all that was sent for the topic`() {
    let book = Sample.book([
      PermitSample.rule(1, "one", on: "driver_arrived"),
      PermitSample.rule(3, "three", on: "eta_changed"),
      PermitSample.rule(nil, "free", on: "requested"),
    ])
    var store = PermitStage()
    var now = Sample.now
    let names = ["requested", "eta_changed", "driver_arrived", "eta_changed", "eta_changed"]
    for (number, name) in names.enumerated() {
      var view = PermitSample.view(number, at: now, names: [name])
      store.handle(&view, by: book, at: &now)
    }
    #expect(store.sent.map(\.entry.rule) == ["free", "three", "three"])
  }

  @Test func `a rule without a topic counts its own pushes`() {
    var (one, other, topical) = (
      PermitSample.rule(1), PermitSample.rule(1, "other"), PermitSample.rule(nil, "topical")
    )
    one.limits.topic = nil
    other.limits.topic = nil
    // A topic with the name of the rule is another count.
    topical.limits.topic = "capped"
    let book = Sample.book([topical, one, other])
    var store = PermitStage()
    var now = Sample.now
    for number in 0..<2 {
      var view = PermitSample.view(number, at: now)
      store.handle(&view, by: book, at: &now)
    }
    #expect(store.sent.map(\.entry.rule) == ["topical", "capped", "other", "topical"])
    #expect(store.reasons.filter { $0 == "suppressed: 1 push of this rule within 10m" }.count == 2)
  }

  @Test(
    arguments: [
      (nil, "this rule", ["capped", "free", "free", "capped", "free", "free"]),
      ("news", "news", ["free", "capped", "free", "free", "capped", "free"]),
    ] as [(Topic?, String, [String])])
  func `a cap per ride counts within each ride, however long it lasts`(
    topic: Topic?, source: String, expected: [String]
  ) {
    var (capped, free) = (PermitSample.rule(2), PermitSample.rule(nil, "free", on: "eta_changed"))
    capped.limits.cap = PushCap(count: 2, per: .ride)
    capped.limits.topic = topic
    free.limits.topic = "news"
    if topic == nil { capped.limits.cap?.count = 1 }
    let book = Sample.book([capped, free])
    var store = PermitStage()
    var now = Sample.now
    for number in 0..<2 {
      let names =
        topic == nil
        ? ["driver_arrived", "eta_changed", "eta_changed"]
        : ["eta_changed", "driver_arrived", "eta_changed"]
      var view = PermitSample.view(number, at: now, names: names)
      store.handle(&view, by: book, at: &now)
      now = now + .seconds(30 * 86_400)
      view.events = [RideEvent(id: 90 + Int64(number), name: "driver_arrived", at: now)]
      store.handle(&view, by: book, at: &now)
    }
    #expect(store.sent.map(\.entry.rule) == expected)
    let pushes = topic == nil ? "1 push" : "2 pushes"
    let suppressed = store.reasons.filter { $0.hasPrefix("suppressed") }
    #expect(
      suppressed == Array(repeating: "suppressed: \(pushes) of \(source) in this ride", count: 2))
  }

  @Test func `what APNs refuses does not count`() {
    let book = Sample.book([PermitSample.rule(1)])
    var store = PermitStage()
    var now = Sample.now
    var view = PermitSample.view(0, at: now)
    store.handle(&view, by: book, at: &now) { _ in
      .refused(Refusal(status: 400, reason: "BadTopic"))
    }
    #expect(store.sent.isEmpty)
    var next = PermitSample.view(1, at: now)
    store.handle(&next, by: book, at: &now)
    #expect(store.sent.count == 1)
  }

  @Test func `a push that is tried again keeps its permit while it waits`() {
    let book = Sample.book([PermitSample.rule(1)])
    var store = PermitStage()
    var now = Sample.now
    var first = PermitSample.view(0, at: now)
    store.handle(&first, by: book, at: &now) { _ in .unsent(.noConnection("no route")) }
    #expect(first.memo.waiting.count == 1)
    var second = PermitSample.view(1, at: now)
    store.handle(&second, by: book, at: &now)
    #expect(store.sent.isEmpty)
    now = now + .seconds(10)
    store.handle(&first, by: book, at: &now)
    #expect(store.sent.map(\.entry.event.id) == [0])
  }

  @Test func `a push that no longer concerns the ride gives its permit back`() {
    var rule = PermitSample.rule(1)
    rule.when = .on(["driver_arrived"], while: ["driver_arrived"])
    let book = Sample.book([rule])
    var store = PermitStage()
    var view = PermitSample.view(0, at: Sample.now)
    var now = Sample.now
    store.handle(&view, by: book, at: &now) { _ in .refused(Refusal(status: 503)) }
    view.ride?.state = "requested"
    now = now + .seconds(10)
    store.handle(&view, by: book, at: &now)
    #expect(store.entries.values.map(\.reason?.code) == [.engine(.leftStates)])
    var next = PermitSample.view(1, at: now)
    store.handle(&next, by: book, at: &now)
    #expect(store.sent.count == 1)
  }

  @Test func `a push that a dead node may have sent counts, whatever comes of it`() {
    var rule = PermitSample.rule(1)
    rule.when = .on(["driver_arrived"], while: ["driver_arrived"])
    let book = Sample.book([rule])
    var store = PermitStage()
    var now = Sample.now
    var view = PermitSample.view(0, at: now)
    store.handle(&view, by: book, at: &now) { _ in nil }
    #expect(store.sent.count == 1)
    view.ride?.state = "requested"
    store.handle(&view, by: book, at: &now)
    #expect(store.entries.values.map(\.reason?.code) == [.engine(.leftStates)])
    now = now + .seconds(590)
    var next = PermitSample.view(1, at: now)
    store.handle(&next, by: book, at: &now)
    #expect(store.sent.count == 1)
  }

  @Test func `a permit whose outcome is unknown counts until its push has expired`() {
    let book = Sample.book([PermitSample.rule(1)])
    var store = PermitStage()
    var now = Sample.now
    var view = PermitSample.view(0, at: now)
    store.handle(&view, by: book, at: &now) { _ in nil }
    #expect(store.sent.count == 1)
    // It may have left at any time within 300 s, and counts for 600 s after that.
    now = Sample.now + .seconds(890)
    var early = PermitSample.view(1, at: now)
    store.handle(&early, by: book, at: &now)
    #expect(store.sent.count == 1)
    now = Sample.now + .seconds(901)
    var late = PermitSample.view(2, at: now)
    store.handle(&late, by: book, at: &now)
    #expect(store.sent.count == 2)
  }

  @Test func `keeps the order of a phone's pushes`() {
    let free = Sample.rule("free", on: ["eta_changed"])
    let book = Sample.book([PermitSample.rule(1), free])
    var store = PermitStage()
    var now = Sample.now
    var view = PermitSample.view(0, at: now, names: ["driver_arrived", "eta_changed"])
    store.handle(&view, by: book, at: &now)
    #expect(store.sent.map(\.entry.rule) == ["capped", "free"])
  }

  @Test func `a newer push with its collapse ID supersedes one that needs a permit`() {
    let free = Sample.rule("free", on: ["eta_changed"], collapse: "one")
    let book = Sample.book([PermitSample.rule(1, collapse: "one"), free])
    var store = PermitStage()
    var now = Sample.now
    var view = PermitSample.view(0, at: now, names: ["driver_arrived", "eta_changed"])
    store.handle(&view, by: book, at: &now)
    #expect(store.sent.map(\.entry.rule) == ["free"])
    #expect(store.reasons == ["accepted: ", "superseded: superseded by eta_changed"])
  }

  @Test func `of several pushes with one collapse ID the newest has the permit`() {
    let book = Sample.book([
      PermitSample.rule(1, on: "driver_arrived", collapse: "one"),
      PermitSample.rule(1, "newer", on: "eta_changed", collapse: "one"),
    ])
    var store = PermitStage()
    var now = Sample.now
    var view = PermitSample.view(0, at: now, names: ["driver_arrived", "eta_changed"])
    store.handle(&view, by: book, at: &now)
    #expect(store.sent.map(\.entry.rule) == ["newer"])
    #expect(store.reasons == ["accepted: ", "superseded: superseded by eta_changed"])
  }

  @Test func `a push that quiet hours held after an attempt gives its permit to a newer one`()
    throws
  {
    var rule = PermitSample.rule(1, collapse: "one")
    rule.expires = .after(.seconds(18_000))
    rule.limits.quiet = QuietHours(
      from: try #require(QuietHours.TimeOfDay(text: "08:01")),
      to: try #require(QuietHours.TimeOfDay(text: "11:00")), zone: .ride, then: .hold)
    let book = Sample.book([rule])
    var store = PermitStage()
    var now = Sample.now
    var view = PermitSample.view(0, at: now)
    store.handle(&view, by: book, at: &now) { _ in .refused(Refusal(status: 503)) }
    #expect(view.memo.waiting.map(\.wait.isDeliberate) == [false])
    now = Sample.now + .seconds(90)
    store.handle(&view, by: book, at: &now)
    #expect(view.memo.waiting.map(\.wait.isDeliberate) == [true])
    view.events = [RideEvent(id: 5, name: "driver_arrived", at: now)]
    // A node that lost the ride can't have sent what is held: the permit is free again.
    var lost = view
    lost.isTakenOver = true
    let permits = decide(lost, by: book, now: now).settled([], now: now) { 0 }.permits
    #expect(permits.map(\.isDone) == [true] && permits.map(\.isSent) == [false])
    store.handle(&view, by: book, at: &now)
    now = Sample.now + .seconds(3 * 3600)
    store.handle(&view, by: book, at: &now)
    #expect(store.sent.map(\.entry.event.id) == [5])
  }

  /// Random rides, retries and deaths of nodes: no window of any length `per` has more than `count`.
  @Test(arguments: [TestSeed.value(1)])
  func `is never exceeded, and nothing is lost`(seed: UInt64) {
    var numbers = SeededGenerator(seed: seed)
    let (count, per) = (3, Duration.seconds(600))
    let book = Sample.book([PermitSample.rule(count, per: per)])
    var store = PermitStage()
    var now = Sample.now
    var views: [RideView] = []
    var fired = 0
    for number in 0..<2000 {
      now = now + .milliseconds(Int64.random(in: 0...120_000, using: &numbers))
      let owner: OwnerID = ["c", "e"].randomElement(using: &numbers) ?? "c"
      views.append(
        PermitSample.view(
          number, at: now, owner: owner, phones: Int.random(in: 1...2, using: &numbers)))
      fired += views[number].phones.count
      for index in views.indices.suffix(5) {
        guard !views[index].events.isEmpty || !views[index].memo.isEmpty else { continue }
        store.handle(&views[index], by: book, at: &now) { _ in
          switch Int.random(in: 0..<8, using: &numbers) {
          case 0: nil
          case 1: .refused(Refusal(status: 503))
          case 2: .unanswered(.timeout)
          case 3: .refused(Refusal(status: 400, reason: "BadTopic"))
          default: .accepted
          }
        }
      }
    }
    now = now + .seconds(3600)
    for index in views.indices { store.handle(&views[index], by: book, at: &now) }
    let open = store.entries.values.filter { $0.status == .pending }
    #expect(open.isEmpty, "seed \(seed)")
    #expect(store.entries.count == fired, "seed \(seed)")
    let byOwner = Dictionary(grouping: store.sent) { $0.entry.owner }
    for (owner, sent) in byOwner {
      for first in sent {
        let window = sent.filter { $0.at >= first.at && $0.at < first.at + per }
        #expect(Set(window.map(\.entry.event.id)).count <= count, "\(owner) seed \(seed)")
      }
    }
    #expect(store.sent.count > 300 && store.reasons.contains { $0.contains("3 pushes of news") })
  }
}
