import Base
import Testing
import TestSupport

@testable import RideCore
@testable import Timeline

/// Pauses of a rule, an event or an app.
@Suite("pause") struct PauseTests {
  /// A ride that is decided again and again.
  private struct Stage {
    var rules: [Rule]
    var view: RideView
    var pauses: [Pause] = []
    /// The rules whose pushes left, with the seconds.
    var sent: [String] = []
    var rows: [String] = []
    var emitted: [String] = []
    /// When the ride is due next, in seconds.
    var next: Double?

    init(_ rules: [Rule], _ view: RideView = Sample.view()) {
      (self.rules, self.view) = (rules, view)
    }

    static func at(_ seconds: Double) -> Timestamp {
      Sample.now + .microseconds(Int64(seconds * 1e6))
    }

    mutating func pause(_ kind: Pause.Kind, _ name: String, until end: Double = 3600) {
      pauses.append(
        Pause(kind, name, until: Self.at(end), since: Sample.now, author: "eve", reason: "a typo"))
    }

    mutating func decide(at seconds: Double, _ outcome: PushOutcome = .accepted) {
      var book = Sample.book(rules)
      book.pauses = Pauses(pauses)
      let now = Self.at(seconds)
      let decision = RideCore.decide(view, by: book, now: now)
      let settled = decision.settled(decision.pushes.map { _ in outcome }, now: now) { 0.5 }
      view.apply(settled)
      view.events.removeAll { $0.name == "unseen" }
      sent += decision.pushes.map(\.entry.rule)
      rows += settled.entries.map { entry in
        "\(entry.rule) \(entry.status.rawValue) \(entry.reason?.code.word ?? "-")"
      }
      emitted += settled.emits.map(\.name)
      next = settled.nextDue.map { Double(($0 - Sample.now).microseconds) / 1e6 }
    }
  }

  private static let rules = [
    Sample.rule("arrived", expires: .after(.seconds(3600))),
    Sample.rule("told", app: .driver, expires: .after(.seconds(3600))),
    Sample.rule("eta", on: ["eta_changed"], expires: .after(.seconds(3600))),
  ]

  private static let subjects: [(Pause.Kind, String, [String])] = [
    (.rule, "arrived", ["eta", "told"]), (.rule, "told", ["arrived", "eta"]),
    (.event, "driver_arrived", ["eta"]), (.event, "eta_changed", ["arrived", "told"]),
    (.app, "customer", ["told"]), (.app, "driver", ["arrived", "eta"]),
    (.rule, "nosuch", ["arrived", "eta", "told"]), (.app, "arrived", ["arrived", "eta", "told"]),
  ]

  @Test(arguments: subjects.indices)
  func `what a pause concerns waits, all else is sent, and the rest follows its end`(
    index: Int
  ) throws {
    let (kind, name, others) = Self.subjects[index]
    let events = [Sample.event(1), Sample.event(2, "eta_changed")]
    var stage = Stage(Self.rules, Sample.view(events: events))
    stage.pause(kind, name)
    stage.decide(at: 0)
    #expect(stage.sent.sorted() == others)
    #expect(stage.view.memo.waiting.count == 3 - others.count)
    // The pause goes on: nothing changes, and no row is written again.
    let rows = stage.rows
    for seconds in [30.0, 60, 90] { stage.decide(at: seconds) }
    #expect(stage.rows == rows && stage.sent.sorted() == others)
    stage.pauses = []
    stage.decide(at: 95)
    #expect(stage.sent.sorted() == ["arrived", "eta", "told"] && stage.view.memo.isEmpty)
    #expect(Set(stage.sent).count == stage.sent.count)
  }

  @Test func `a push looks again in 30 s, and its row names the pause`() throws {
    var stage = Stage([Sample.rule()])
    stage.pause(.rule, "arrived")
    stage.decide(at: 0)
    #expect(stage.rows == ["arrived pending paused"] && stage.next == 30)
    #expect(
      stage.view.memo.waiting.first?.entry.reason?.text
        == "rule arrived is paused until 2027-01-15T09:00:00Z: a typo")
    stage.decide(at: 30)
    #expect(stage.next == 60)
    // One that ends before is looked at then.
    stage.pauses[0].until = Stage.at(70)
    stage.decide(at: 60)
    #expect(stage.next == 70)
    stage.decide(at: 70)
    #expect(stage.sent == ["arrived"] && stage.rows.last == "arrived accepted -")
  }

  @Test func `it is sent as the ride is then, or not at all`() throws {
    var stage = Stage([Sample.rule()])
    stage.rules[0].when = .on(["driver_arrived"], while: ["driver_arrived"])
    stage.pause(.app, "customer")
    stage.decide(at: 0)
    var other = stage
    stage.view.ride?.attributes = #"{"plate": "B-RP 2"}"#
    stage.pauses = []
    let push = try #require(
      decide(stage.view, by: Sample.book(stage.rules), now: Stage.at(5)).pushes.first)
    #expect(String(decoding: push.payload, as: UTF8.self).contains("B-RP 2"))
    other.view.ride?.state = "requested"
    other.pauses = []
    other.decide(at: 5)
    #expect(other.sent.isEmpty && other.rows.last == "arrived suppressed left_states")
  }

  @Test func `what expires meanwhile has the pause in its row`() throws {
    var stage = Stage([Sample.rule(expires: .after(.seconds(100)))])
    stage.pause(.event, "driver_arrived")
    stage.decide(at: 0)
    while let next = stage.next, next < 1000 { stage.decide(at: next) }
    // The event was a second old.
    #expect(stage.rows == ["arrived pending paused", "arrived expired paused"])
    #expect(stage.sent.isEmpty && stage.view.memo.isEmpty)
  }

  @Test func `of pushes with one collapse ID the newest is sent`() throws {
    let rule = Sample.rule(on: ["driver_arrived", "eta_changed"], collapse: "one")
    var stage = Stage([rule])
    stage.pause(.rule, "arrived")
    stage.decide(at: 0)
    stage.view.events = [RideEvent(id: 2, name: "eta_changed", at: Stage.at(3))]
    stage.decide(at: 3)
    #expect(stage.rows.last { $0.contains("superseded") } != nil)
    stage.pauses = []
    stage.decide(at: 10)
    #expect(stage.sent == ["arrived"] && stage.view.memo.isEmpty)
  }

  @Test func `a retry waits for the pause that began meanwhile, and a new pause for no one`() {
    var stage = Stage([Sample.rule()])
    stage.decide(at: 0, .refused(Refusal(status: 503)))
    #expect(stage.sent == ["arrived"])
    stage.pause(.rule, "arrived", until: 20)
    stage.decide(at: 10)
    #expect(stage.sent == ["arrived"] && stage.rows.last == "arrived pending paused")
    stage.pauses = []
    stage.pause(.rule, "other")
    stage.decide(at: 12)
    #expect(stage.sent == ["arrived", "arrived"] && stage.view.memo.isEmpty)
  }

  @Test func `an event to emit waits, whatever app is paused`() {
    let rule = Rule(
      name: "e", app: .driver, when: .on(["driver_arrived"]), what: .emit("eta_changed"),
      expires: .ofEmit, source: "sample.yaml:1")
    var stage = Stage([rule])
    stage.pause(.rule, "e")
    stage.decide(at: 0)
    #expect(stage.emitted.isEmpty && stage.rows == ["e pending paused"])
    stage.decide(at: 30)
    #expect(stage.emitted.isEmpty)
    stage.pauses = []
    stage.decide(at: 40)
    #expect(stage.emitted == ["eta_changed"] && stage.rows.last == "e accepted emitted")
    var other = Stage([rule])
    other.pause(.app, "driver")
    other.decide(at: 0)
    #expect(other.emitted == ["eta_changed"])
  }

  @Test func `rules for a share of the rides follow the same pauses`() throws {
    var book = Sample.book()
    let share = try #require(RecordSample(text: "50%"))
    book.trial = RuleTrial(book.rules, for: share)
    book.pauses = Pauses([
      Pause(.app, "customer", until: Stage.at(60), since: Sample.now, author: "eve")
    ])
    let rides = (0..<50).map { RideID("r\($0)") }
    let ride = try #require(rides.first { book.trial?.decides($0) == true })
    let own = book.deciding(ride)
    #expect(own.trial == nil && own.pauses == book.pauses)
  }

  private static func offer() -> Stage {
    var rule = Sample.rule(
      "offer", app: .driver, on: ["eta_changed"], expires: .after(.seconds(120)))
    rule.escalation = Escalation(unlessSeenWithin: .seconds(6), emit: "unseen")
    let event = RideEvent(id: 1, name: "eta_changed", at: Sample.now, data: #"{"driver_id": "d"}"#)
    var view = Sample.view(events: [event])
    view.reporters = [PhoneOwner(.driver, "d")]
    return Stage([rule], view)
  }

  @Test func `an escalation gives the owner its whole time after the pause`() {
    var stage = Self.offer()
    stage.pause(.rule, "offer")
    stage.decide(at: 0)
    for seconds in [6.0, 30, 36] { stage.decide(at: seconds) }
    #expect(stage.emitted.isEmpty && stage.sent.isEmpty)
    stage.pauses = []
    stage.decide(at: 40)
    #expect(stage.sent == ["offer"] && stage.emitted.isEmpty && stage.next == 46)
    stage.decide(at: 45)
    #expect(stage.emitted.isEmpty)
    stage.decide(at: 46)
    stage.decide(at: 47)
    #expect(stage.emitted == ["unseen"] && stage.view.memo.isEmpty)
  }

  @Test func `a pause that begins after the push holds its escalation back, too`() {
    var stage = Self.offer()
    stage.decide(at: 0)
    #expect(stage.sent == ["offer"] && stage.next == 6)
    stage.pause(.app, "driver", until: 50)
    stage.decide(at: 6)
    #expect(stage.emitted.isEmpty && stage.next == 36)
    stage.decide(at: 36)
    #expect(stage.emitted.isEmpty && stage.next == 50)
    stage.decide(at: 50)
    stage.decide(at: 56)
    #expect(stage.emitted == ["unseen"] && stage.sent == ["offer"])
    var expired = Self.offer()
    expired.pause(.rule, "offer")
    expired.decide(at: 0)
    while let next = expired.next, next < 1000 { expired.decide(at: next) }
    #expect(expired.emitted.isEmpty && expired.view.memo.isEmpty)
    #expect(expired.rows.suffix(2) == ["offer expired paused", "offer expired paused"])
  }

  @Test func `a slot that APNs does not store is suppressed, and its successor comes`() {
    var rule = Sample.rule("beat", app: .driver, expires: .neverStore)
    rule.when = .at(Timing(.every(.seconds(60)), while: ["driver_arrived"]))
    var stage = Stage([rule])
    stage.decide(at: 0)
    stage.pause(.rule, "beat", until: 150)
    while let next = stage.next, next < 250 { stage.decide(at: next) }
    let paused = stage.rows.filter { $0 == "beat suppressed paused" }
    #expect(paused.count >= 2 && stage.sent.count >= 1, "\(stage.rows)")
    #expect(!stage.rows.contains("beat pending paused"))
  }

  @Test(arguments: [TestSeed.value(1), TestSeed.value(2)])
  func `in random schedules each push is sent once, never during a pause`(seed: UInt64) {
    var numbers = SeededGenerator(seed: seed)
    for _ in 0..<200 {
      var stage = Stage(Self.rules, Sample.view(events: []))
      var (clock, number, fired) = (0.0, Int64(0), 0)
      for _ in 0..<30 {
        clock = min(stage.next ?? clock + 9, clock + Double.random(in: 0..<20, using: &numbers))
        switch Int.random(in: 0..<4, using: &numbers) {
        case 0:
          number += 1
          let name = Bool.random(using: &numbers) ? "driver_arrived" : "eta_changed"
          fired += name == "driver_arrived" ? 2 : 1
          stage.view.events.append(RideEvent(id: number, name: name, at: Stage.at(clock)))
        case 1:
          let (kind, name, _) = Self.subjects[Int.random(in: 0..<6, using: &numbers)]
          stage.pause(kind, name, until: clock + Double.random(in: 1..<40, using: &numbers))
        case 2: stage.pauses = []
        default: break
        }
        let before = stage.sent.count
        stage.decide(at: clock)
        let open = stage.pauses.filter { $0.until > Stage.at(clock) }
        for rule in stage.sent.dropFirst(before) {
          let app = rule == "told" ? "driver" : "customer"
          let event = rule == "eta" ? "eta_changed" : "driver_arrived"
          #expect(!open.contains { [rule, app, event].contains($0.name) }, "seed \(seed)")
        }
      }
      stage.pauses = []
      stage.decide(at: clock + 1)
      #expect(stage.sent.count == fired, "seed \(seed): \(stage.rows)")
      #expect(stage.view.memo.waiting.isEmpty && stage.view.events.isEmpty, "seed \(seed)")
    }
  }
}
