import Base
import Testing

@testable import RideCore
@testable import Timeline

/// R87: the phones of one firing are decided together when its `wait` is over.
@Suite struct WaitingPhonesTests {
  /// A ride whose customer has some phones, and two rules: one is sent at once, the other waits.
  private struct Stage {
    var view: RideView
    var rules: [Rule]
    var sent: [(rule: String, phone: Int64)] = []
    var reasons: [String] = []

    init(
      _ phones: Int, if text: String = "last == null || last.eta != ride.attributes.eta",
      events: [RideEvent] = [Sample.event()]
    ) throws {
      var rule = Sample.rule("moved")
      rule.delay(by: .seconds(60))
      let memory = text.contains("last") ? [["eta"]] : []
      rule.condition = try Condition(text, remembering: memory)
      rules = [Sample.rule("now", on: ["eta_changed"]), rule]
      let zeros = String(repeating: "0", count: 56)
      view = Sample.view(
        events: events,
        phones: (1...Int64(phones)).map { Sample.phone($0, token: zeros + "\(10_000_000 + $0)") })
      view.ride?.attributes = #"{"plate": "B", "eta": 7}"#
    }

    @discardableResult
    mutating func decide(
      at seconds: Double, _ outcome: (PlannedPush) -> PushOutcome = { _ in .accepted }
    ) -> Double? {
      let now = Sample.now + .microseconds(Int64(seconds * 1e6))
      let decision = RideCore.decide(view, by: Sample.book(rules), now: now)
      let settled = decision.settled(decision.pushes.map(outcome), now: now) { 0.9 }
      view.apply(settled)
      for entry in settled.entries where entry.status != .pending {
        if entry.status == .accepted { sent.append((entry.rule, entry.phone ?? 0)) }
        reasons.append("\(entry.rule) \(entry.status.rawValue): \(entry.reason?.text ?? "")")
      }
      return settled.nextDue.map { Double(($0 - Sample.now).microseconds) / 1e6 }
    }

    mutating func run(from start: Double) {
      var due = decide(at: start)
      for _ in 0..<20 {
        guard let next = due else { return }
        due = decide(at: max(start, next))
      }
    }

    func phones(of rule: String) -> [Int64] {
      sent.filter { $0.rule == rule }.map(\.phone).sorted()
    }
  }

  @Test func `a phone for which an older push waits is decided with the others`() throws {
    var stage = try Stage(2, events: [Sample.event(1, "eta_changed"), Sample.event(2)])
    let refused: (PlannedPush) -> PushOutcome = { push in
      push.entry.phone == 2 ? .refused(Refusal(status: 503, reason: "Shutdown")) : .accepted
    }
    stage.decide(at: 0, refused)
    stage.decide(at: 58.9, refused)
    stage.decide(at: 59)
    #expect(stage.phones(of: "moved") == [1])
    #expect(stage.view.memo.waiting.map(\.entry.rule) == ["now", "moved"])
    #expect(stage.view.memo.waiting.last?.entry.reason?.code == .engine(.queuedBehind))
    #expect(stage.view.memo.conditions["moved"]?.last == #"{"eta":7}"#)
    stage.run(from: 59)
    #expect(stage.phones(of: "moved") == [1, 2])
    #expect(stage.view.memo.waiting.isEmpty)
  }

  @Test func `what is decided as false for one is so for all, whatever they wait for`() throws {
    var stage = try Stage(
      2, if: "ride.attributes.eta > 7", events: [Sample.event(1, "eta_changed"), Sample.event(2)])
    let refused: (PlannedPush) -> PushOutcome = { push in
      push.entry.phone == 2 ? .refused(Refusal(status: 503, reason: "Shutdown")) : .accepted
    }
    stage.decide(at: 0, refused)
    stage.decide(at: 58.9, refused)
    stage.decide(at: 59)
    stage.view.ride?.attributes = #"{"plate": "B", "eta": 8}"#
    stage.run(from: 60)
    #expect(stage.phones(of: "moved").isEmpty)
    #expect(stage.reasons.filter { $0 == "moved suppressed: if is false" }.count == 2)
  }

  @Test func `if all of them are kept back, the rule has fired`() throws {
    var stage = try Stage(1, events: [Sample.event(1, "eta_changed"), Sample.event(2)])
    let refused: (PlannedPush) -> PushOutcome = { _ in .refused(Refusal(status: 503)) }
    stage.decide(at: 0, refused)
    stage.decide(at: 58.9, refused)
    stage.decide(at: 59)
    #expect(stage.phones(of: "moved").isEmpty)
    #expect(stage.view.memo.conditions["moved"]?.last == #"{"eta":7}"#)
    stage.run(from: 59)
    #expect(stage.phones(of: "moved") == [1])
  }

  @Test(arguments: [1500, 2500])
  func `more phones than one decision serves are decided together`(phones: Int) throws {
    var stage = try Stage(phones)
    stage.run(from: 0)
    #expect(stage.phones(of: "moved") == Array(1...Int64(phones)))
    #expect(stage.reasons.allSatisfy { $0 == "moved accepted: " })
  }

  /// `if`, and how many of 2,500 phones receive the push: the wait ends in the second of three parts.
  private static let split: [(text: String, sent: Int)] = [
    ("ride.attributes.eta > 7", 0), ("phone.locale == 'de'", 0),
    ("last == null || last.eta != ride.attributes.eta", 2500),
  ]

  @Test(arguments: split.indices)
  func `a wait that ends between the parts of a pass ends for all at once`(index: Int) throws {
    let (text, sent) = Self.split[index]
    var stage = try Stage(2500, if: text)
    stage.decide(at: 58.9)
    stage.decide(at: 59)
    stage.decide(at: 60)
    #expect(stage.sent.isEmpty && stage.view.memo.part == nil)
    stage.run(from: 61)
    #expect(stage.phones(of: "moved").count == sent)
    #expect(stage.reasons.filter { $0 == "moved suppressed: if is false" }.count == 2500 - sent)
    #expect(stage.view.memo.waiting.isEmpty)
  }
}
