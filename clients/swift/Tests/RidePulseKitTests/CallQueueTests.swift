import Foundation
import Testing

@testable import RidePulseKit

/// The queue's rules, each in a row of steps.
@Suite struct CallQueueTests {
  private enum Act {
    case signIn(String)
    case signOut
    case report(Report)
    /// The slots that are sent now, in order.
    case sends([String])
    case done(String)
    case fails(String)
    case isRefused(String)
    /// The app has no headers for it now: it does not leave.
    case stays(String)
    case passes(Double)
    case restart
  }

  private static func card(_ id: String, _ token: String) -> Report {
    .card(CardReport(activityID: id, ride: "r1", token: token, isFrequent: false))
  }

  private static func phone(_ token: String) -> Report {
    .phone(PhoneReport(app: "customer", token: token))
  }

  private static let rows: [(name: String, acts: [Act])] = [
    (
      "a card's token goes first, the others follow at once",
      [
        .signIn("a"), .report(.contact), .report(phone("p")), .report(card("1", "t")),
        .sends(["card 1", "phone customer", "contact"]),
      ]
    ),
    (
      "what fails keeps nothing else waiting",
      [
        .signIn("a"), .report(phone("p")), .report(card("1", "t")),
        .sends(["card 1", "phone customer"]), .fails("card 1"), .report(card("2", "u")),
        .sends(["card 2"]), .passes(2), .sends(["card 1"]),
      ]
    ),
    (
      "the newest token waits for the one on its way, and those between are not sent",
      [
        .signIn("a"), .report(card("1", "t")), .sends(["card 1"]), .report(card("1", "u")),
        .report(card("1", "v")), .sends([]), .done("card 1"), .sends(["card 1"]), .done("card 1"),
        .sends([]),
      ]
    ),
    (
      "one that was on its way when the process ended is replaced by a newer one",
      [
        .signIn("a"), .report(phone("p")), .sends(["phone customer"]), .report(phone("q")),
        .restart, .report(phone("r")), .sends(["phone customer"]), .done("phone customer"),
        .sends([]),
      ]
    ),
    (
      "one that failed is replaced by a newer one, at once",
      [
        .signIn("a"), .report(card("1", "t")), .sends(["card 1"]), .report(card("1", "u")),
        .fails("card 1"), .sends(["card 1"]), .done("card 1"), .sends([]), .passes(9000),
        .sends([]),
      ]
    ),
    (
      "the same again shortens no pause",
      [
        .signIn("a"), .report(phone("p")), .sends(["phone customer"]), .fails("phone customer"),
        .report(phone("p")), .sends([]), .passes(2), .sends(["phone customer"]),
      ]
    ),
    (
      "a start token waits for its phone",
      [
        .signIn("a"), .report(.start(type: "Ride", token: "s")), .sends([]), .report(phone("p")),
        .sends(["phone customer"]), .done("phone customer"), .sends(["start Ride"]),
      ]
    ),
    (
      "a start token that another follows is withdrawn",
      [
        .signIn("a"), .report(phone("p")), .sends(["phone customer"]), .done("phone customer"),
        .report(.start(type: "Ride", token: "s")), .sends(["start Ride"]), .done("start Ride"),
        .report(.start(type: "Ride", token: "t")), .sends(["withdraw start Ride s"]),
        .done("withdraw start Ride s"), .sends(["start Ride"]),
      ]
    ),
    (
      "a sign-out drops what waits, and waits for what is on its way",
      [
        .signIn("a"), .report(phone("p")), .sends(["phone customer"]), .report(.contact), .signOut,
        .sends([]), .fails("phone customer"), .sends(["withdraw customer p"]),
        .done("withdraw customer p"), .passes(9000), .sends([]),
      ]
    ),
    (
      "a sign-out survives the end of the process",
      [
        .signIn("a"), .report(phone("p")), .sends(["phone customer"]), .signOut, .restart,
        .sends(["withdraw customer p"]), .fails("withdraw customer p"), .restart, .passes(2),
        .sends(["withdraw customer p"]),
      ]
    ),
    (
      "who had nothing sent has nothing to withdraw",
      [.signIn("a"), .report(phone("p")), .report(card("1", "t")), .signOut, .sends([])]
    ),
    (
      "what the same person registers again waits for the sign-out",
      [
        .signIn("a"), .report(phone("p")), .sends(["phone customer"]), .done("phone customer"),
        .signOut, .signIn("a"), .report(phone("p")), .report(card("1", "t")),
        .sends(["withdraw customer p"]), .fails("withdraw customer p"), .sends([]), .passes(2),
        .sends(["withdraw customer p"]), .done("withdraw customer p"),
        .sends(["card 1", "phone customer"]),
      ]
    ),
    (
      "another person's registration takes the place of a sign-out that fails",
      [
        .signIn("a"), .report(phone("p")), .sends(["phone customer"]), .done("phone customer"),
        .signOut, .sends(["withdraw customer p"]), .signIn("b"), .report(phone("p")), .sends([]),
        .fails("withdraw customer p"), .sends(["phone customer"]), .passes(9000), .sends([]),
        .done("phone customer"), .passes(9000), .sends([]),
      ]
    ),
    (
      "a sign-out is sent after all if the other person is gone before being registered",
      [
        .signIn("a"), .report(phone("p")), .sends(["phone customer"]), .done("phone customer"),
        .signOut, .sends(["withdraw customer p"]), .fails("withdraw customer p"), .signIn("b"),
        .report(phone("q")), .sends(["phone customer"]), .fails("phone customer"), .passes(2),
        .signOut, .sends(["withdraw customer p", "withdraw customer q"]),
      ]
    ),
    (
      "a sign-out is sent once the other person's registration was refused",
      [
        .signIn("a"), .report(phone("p")), .sends(["phone customer"]), .done("phone customer"),
        .signOut, .sends(["withdraw customer p"]), .fails("withdraw customer p"), .signIn("b"),
        .report(phone("p")), .sends(["phone customer"]), .passes(2), .sends([]),
        .isRefused("phone customer"), .sends(["withdraw customer p"]),
      ]
    ),
    (
      "a sign-out rests again behind a registration that follows one that was refused",
      [
        .signIn("a"), .report(phone("p")), .sends(["phone customer"]), .done("phone customer"),
        .signOut, .sends(["withdraw customer p"]), .fails("withdraw customer p"), .signIn("b"),
        .report(phone("p")), .sends(["phone customer"]), .isRefused("phone customer"),
        .report(phone("q")), .sends(["phone customer"]), .fails("phone customer"), .passes(2),
        .sends(["phone customer"]), .done("phone customer"), .passes(9000), .sends([]),
      ]
    ),
    (
      "what was refused after an attempt without an answer is withdrawn all the same",
      [
        .signIn("a"), .report(phone("p")), .sends(["phone customer"]), .fails("phone customer"),
        .passes(2), .sends(["phone customer"]), .isRefused("phone customer"), .signOut,
        .sends(["withdraw customer p"]),
      ]
    ),
    (
      "a registration that never left holds no sign-out back, and is not withdrawn",
      [
        .signIn("a"), .report(phone("p")), .sends(["phone customer"]), .done("phone customer"),
        .signOut, .sends(["withdraw customer p"]), .fails("withdraw customer p"), .signIn("b"),
        .report(phone("q")), .sends(["phone customer"]), .stays("phone customer"), .passes(2),
        .sends(["withdraw customer p"]), .done("withdraw customer p"), .signOut, .passes(9000),
        .sends([]),
      ]
    ),
    (
      "a person who follows without a sign-out signs the former one out",
      [
        .signIn("a"), .report(phone("p")), .sends(["phone customer"]), .report(card("1", "t")),
        .signIn("b"), .sends([]), .done("phone customer"), .sends(["withdraw customer p"]),
      ]
    ),
    (
      "a card that its phone's registration follows is reported again",
      [
        .signIn("a"), .report(card("1", "t")), .sends(["card 1"]), .done("card 1"),
        .report(phone("p")), .sends(["phone customer"]), .done("phone customer"),
        .sends(["card 1"]),
      ]
    ),
    (
      "what is refused is not repeated",
      [
        .signIn("a"), .report(phone("p")), .sends(["phone customer"]),
        .isRefused("phone customer"), .passes(9000), .sends([]),
      ]
    ),
    (
      "a contact is not worth sending for long, a card is",
      [
        .signIn("a"), .report(.contact), .report(card("1", "t")), .sends(["card 1", "contact"]),
        .fails("contact"), .fails("card 1"), .passes(601), .sends(["card 1"]),
      ]
    ),
  ]

  @Test(arguments: rows.indices) func `Each rule holds`(_ row: Int) throws {
    let (name, acts) = Self.rows[row]
    var queue = CallQueue()
    var now = Date(timeIntervalSince1970: 1_790_000_000)
    var sent: [Call] = []
    func identity(_ process: Int) -> CallQueue.Identity {
      CallQueue.Identity(app: "customer", installation: "i1", process: "p\(process)")
    }
    queue.begin(identity(0))
    for (step, act) in acts.enumerated() {
      func finish(_ slot: String, _ result: CallResult) throws {
        let index = try #require(
          sent.firstIndex { $0.report.slot == slot }, "\(name), step \(step)")
        queue.finished(sent.remove(at: index).key, result, at: now, jitter: 0)
      }
      switch act {
      case .signIn(let owner): queue.signIn(owner, formerHeaders: [:], at: now)
      case .signOut: queue.signOut(headers: [:], at: now)
      case .report(let report): queue.add(report, at: now)
      case .done(let slot): try finish(slot, .done)
      case .fails(let slot): try finish(slot, .failed("lost"))
      case .stays(let slot): try finish(slot, .failed("no authorization"))
      case .isRefused(let slot): try finish(slot, .refused("422"))
      case .passes(let seconds): now += seconds
      case .restart:
        queue = try JSONDecoder().decode(CallQueue.self, from: JSONEncoder().encode(queue))
        queue.begin(identity(step))
        sent = []
      case .sends(let slots):
        var new: [String] = []
        while case .send(let call) = queue.next(at: now) {
          sent.append(call)
          let stays =
            if case .stays(call.report.slot)? = acts.dropFirst(step + 1).first { true } else {
              false
            }
          let hasLeft = !stays && queue.leaves(call.key)
          #expect(hasLeft != stays, "\(name), step \(step)")
          new.append(call.report.slot)
        }
        #expect(new == slots, "\(name), step \(step)")
      }
    }
  }

  @Test func `A queue from another installation is not this phone's`() {
    var queue = CallQueue()
    queue.begin(CallQueue.Identity(app: "customer", installation: "i1", process: "p"))
    queue.signIn("a", formerHeaders: nil, at: Date())
    queue.add(Self.phone("p"), at: Date())
    queue.begin(CallQueue.Identity(app: "customer", installation: "i2", process: "q"))
    #expect(queue.session == nil && queue.calls.isEmpty)
    #expect(queue.takeEvents() == [.dropped("phone of customer", "another installation")])
  }

  @Test func `An installation whose ID is not known yet is not another one`() {
    var queue = CallQueue()
    queue.begin(CallQueue.Identity(app: "customer", installation: "i1", process: "p"))
    queue.signIn("a", formerHeaders: nil, at: Date())
    queue.begin(CallQueue.Identity(app: "customer", installation: nil, process: "q"))
    queue.add(Self.phone("p"), at: Date())
    #expect(queue.session?.owner == "a")
    #expect(queue.calls.first?.body?["installation_id"] == .text("i1"))
    queue.identify("i1")
    #expect(queue.calls.count == 1)
    // A restored backup, if the ID comes late.
    queue.identify("i2")
    #expect(queue.session == nil && queue.calls.isEmpty)
    #expect(queue.takeEvents() == [.dropped("phone of customer", "another installation")])
  }

  @Test func `A clock that was set back delays no call for long`() {
    var queue = CallQueue()
    let now = Date(timeIntervalSince1970: 1_790_000_000)
    queue.begin(CallQueue.Identity(app: "customer", process: "p"))
    queue.signIn("a", formerHeaders: nil, at: now)
    queue.add(Self.phone("p"), at: now)
    guard case .send(let call) = queue.next(at: now) else { return #expect(Bool(false)) }
    queue.finished(call.key, .failed("lost"), at: now, jitter: 0)
    guard case .send = queue.next(at: now - 90_000) else { return #expect(Bool(false)) }
  }

  @Test
  func `A sign-out that a backend refuses to take holds its person back no longer than it has to`()
  {
    var queue = CallQueue()
    var now = Date(timeIntervalSince1970: 1_790_000_000)
    func next() -> Call? {
      guard case .send(let call) = queue.next(at: now) else { return nil }
      return call
    }
    queue.begin(CallQueue.Identity(app: "customer", process: "p"))
    queue.signIn("a", formerHeaders: nil, at: now)
    queue.add(Self.phone("p"), at: now)
    queue.finished(next()?.key ?? "", .done, at: now, jitter: 0)
    queue.signOut(headers: [:], at: now)
    queue.signIn("a", formerHeaders: nil, at: now)
    queue.add(Self.phone("p"), at: now)
    for attempt in 1...CallQueue.patience {
      let call = next()
      #expect(call?.farewell != nil)
      queue.finished(call?.key ?? "", .failed("500", isAnswer: true), at: now, jitter: 0)
      if attempt < CallQueue.patience { #expect(next() == nil) }
      now += attempt < CallQueue.patience ? 900 : 0
    }
    #expect(next()?.report == Self.phone("p"))
  }
}
