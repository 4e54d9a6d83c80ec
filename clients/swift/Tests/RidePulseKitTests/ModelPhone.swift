import Foundation

@testable import RidePulseKit

/// A phone with the kit's queue, as `RidePulseClient` drives it, and a network with holes.
struct ModelPhone {
  var server = ModelServer()
  private(set) var queue = CallQueue()
  /// What was stored last; a process that starts reads it as JSON.
  private var disk = CallQueue()
  /// Calls for whose headers the app was asked.
  private var asking: [Call] = []
  private var sent: [Call] = []
  private var now = Date(timeIntervalSince1970: 1_790_000_000)
  private var chance: Chance
  private var count = 0
  /// What iOS and the app have: they outlive the process.
  private var owner: String?
  private var device = ""
  private var starts: [String: String] = [:]
  private var cards: [String: String] = [:]
  private var controls: Set<String> = []
  private var areCardsOn = true
  /// Whether the app has the headers of its session now.
  private var hasAuthorization = true
  /// What happened, for a schedule that fails.
  private(set) var history: [String] = []
  /// What must never happen, and did.
  private(set) var faults: [String] = []

  init(seed: UInt64) {
    chance = Chance(seed: seed)
    rotate()
    launch()
  }

  private mutating func token() -> String {
    count += 1
    return "t\(count)"
  }

  private mutating func rotate() {
    (device, starts) = (token(), ["Ride": token(), "Wait": token()])
  }

  private mutating func launch() {
    queue.begin(
      CallQueue.Identity(
        app: "customer", installation: "i1", environment: .sandbox, process: "p\(count)"))
    count += 1
    guard let owner else { return }
    // A card's token may come before the person is known again; it waits for that.
    queue.signIn(owner, formerHeaders: [:], at: now)
    queue.cardsPresent(Set(cards.keys), at: now)
    reportAll()
  }

  private mutating func reportAll() {
    queue.add(.phone(PhoneReport(app: "customer", token: device)), at: now)
    queue.add(.phone(PhoneReport(app: "customer_widgets", token: "w" + device)), at: now)
    reportStarts()
    for id in cards.keys.sorted() { reportCard(id) }
    reportControls()
  }

  private mutating func reportControls() {
    for report in queue.controls(controls, of: "customer_controls") { queue.add(report, at: now) }
  }

  private mutating func reportStarts() {
    for (type, token) in starts.sorted(by: { $0.key < $1.key }) {
      queue.add(
        areCardsOn ? .start(type: type, token: token) : .withdrawStart(type: type, token: token),
        at: now)
    }
  }

  private mutating func reportCard(_ id: String) {
    guard let token = cards[id] else { return }
    queue.add(
      .card(CardReport(activityID: id, ride: "r1", token: token, isFrequent: true)), at: now)
  }

  private mutating func save() { disk = queue }

  /// Does one random thing.
  mutating func step() {
    let what = Int.random(in: 0..<21, using: &chance)
    history.append("\(what) \(owner ?? "-")")
    switch what {
    case 0: signIn()
    case 1: if chance.one(in: 2) { signOut() }
    case 2: kill()
    case 3:
      let id = "card\(count)"
      cards[id] = token()
      if owner == nil { cards = [:] } else { reportCard(id) }
    case 4:
      guard let id = cards.keys.sorted().randomElement(using: &chance) else { break }
      if chance.one(in: 2) {
        cards[id] = token()
        reportCard(id)
      } else {
        cards[id] = nil
        if owner != nil { queue.add(.endCard(id), at: now) }
      }
    case 5:
      rotate()
      if owner != nil { reportAll() }
    case 6:
      areCardsOn.toggle()
      if owner != nil { reportStarts() }
    case 7:
      if chance.one(in: 2) {
        controls.insert(token())
      } else if let gone = controls.sorted().randomElement(using: &chance) {
        controls.remove(gone)
      }
      if owner != nil { reportControls() }
    case 8: now += Double.random(in: 0...600, using: &chance)
    case 9: queue.hurry()
    case 10, 11: answer(one: true)
    case 12: if chance.one(in: 4) { refuse() }
    case 13: hasAuthorization.toggle()
    case 14, 15, 16: send(most: 3)
    default:
      for _ in 0..<3 where !asking.isEmpty {
        leave(asking.remove(at: Int.random(in: 0..<asking.count, using: &chance)))
      }
    }
    save()
  }

  private mutating func signIn() {
    let next = ["anna", "ben", "cleo"].randomElement(using: &chance)
    // Most apps sign out first.
    if owner != nil, next != owner, !chance.one(in: 4) { signOut() }
    if owner != next { cards = [:] }
    owner = next
    queue.signIn(next ?? "", formerHeaders: [:], at: now)
    // It may end before it reports the rest.
    if chance.one(in: 8) { return kill() }
    queue.cardsPresent(Set(cards.keys), at: now)
    reportAll()
  }

  /// The backend ceases to take a person's registrations, or takes them again from the next start on.
  private mutating func refuse() {
    if server.refused.remove("cleo") == nil { server.refused = ["cleo"] } else { kill() }
  }

  private mutating func signOut() {
    queue.signOut(headers: [:], at: now)
    save()
    // It may end between the kit's sign-out and its own.
    if chance.one(in: 8) { return kill() }
    (owner, cards) = (nil, [:])
  }

  private mutating func kill() {
    // What was not stored is gone; what is on its way may arrive or not.
    if chance.one(in: 2) { save() }
    for call in sent where chance.one(in: 2) { _ = server.receive(call) }
    (sent, asking) = ([], [])
    // A card may go while the app does not run.
    if chance.one(in: 2), let id = cards.keys.sorted().first { cards[id] = nil }
    do {
      queue = try JSONDecoder().decode(CallQueue.self, from: JSONEncoder().encode(disk))
    } catch { faults.append("\(error)") }
    launch()
    save()
  }

  private mutating func send(most: Int) {
    for _ in 0..<most {
      guard case .send(let call) = queue.next(at: now) else { return }
      asking.append(call)
    }
  }

  /// Receives the headers, notes that the call leaves, and sends it.
  private mutating func leave(_ call: Call) {
    if call.farewell == nil, !hasAuthorization {
      return queue.finished(call.key, .failed("no authorization"), at: now, jitter: 0.5)
    }
    guard queue.leaves(call.key) else {
      return queue.finished(call.key, .failed("not needed any more"), at: now, jitter: 0.5)
    }
    check(call)
    sent.append(call)
    save()
  }

  private mutating func check(_ call: Call) {
    if call.farewell == nil, call.session != queue.session?.number {
      faults.append("\(call.report.slot) of the former \(call.owner) was sent")
    }
    if call.farewell != nil, queue.session?.phones[call.lane]?.isRefused == false {
      faults.append("the sign-out of \(call.owner) was sent behind a registration")
    }
    let ahead = sent.contains { $0.report.lane == call.report.lane && $0.farewell == nil }
    if call.farewell == nil, ahead { faults.append("two of \(call.report.lane) are on their way") }
  }

  private mutating func answer(one: Bool) {
    guard !sent.isEmpty else { return }
    let call = sent.remove(at: Int.random(in: 0..<sent.count, using: &chance))
    var result = CallResult.done
    switch one ? Int.random(in: 0..<5, using: &chance) : 4 {
    case 0: result = .failed("lost")
    case 1:
      _ = server.receive(call)
      result = .failed("answer lost")
    case 2: result = .failed("503", after: 2, isAnswer: chance.one(in: 2))
    default:
      result = CallResult(
        status: server.receive(call), retryAfter: nil, report: call.report,
        isFarewell: call.farewell != nil)
    }
    queue.finished(call.key, result, at: now, jitter: 0.5)
  }

  /// The network is whole again: sends all that waits.
  mutating func settle() {
    hasAuthorization = true
    for call in asking { leave(call) }
    asking = []
    for _ in 0..<10_000 {
      switch queue.next(at: now) {
      case .send(let call): leave(call)
      case .wait(let until) where sent.isEmpty: now = until
      default:
        if sent.isEmpty { return }
        answer(one: false)
      }
    }
    faults.append("it never ends")
  }

  /// What the server has enabled, without what it took of a person before it refused them: no call tells
  /// whether it keeps that.
  var enabled: Set<String> {
    server.enabled.filter { line in
      !server.refused.contains { $0 == owner && line.hasSuffix(" of \($0)") }
    }
  }

  /// The calls that wait, without those that wait for a registration that was refused.
  var waiting: [Call] {
    guard let owner, server.refused.contains(owner) else { return queue.calls }
    return queue.calls.filter { if case .start = $0.report { $0.owner != owner } else { true } }
  }

  /// What the server must have enabled at the end, in lines.
  var expected: Set<String> {
    guard let owner, !server.refused.contains(owner) else { return [] }
    var lines = Set(cards.map { "card \($0.key) \($0.value) of \(owner)" })
    lines.insert("phone customer \(device) of \(owner)")
    lines.insert("phone customer_widgets w\(device) of \(owner)")
    for control in controls { lines.insert("phone customer_controls \(control) of \(owner)") }
    if areCardsOn {
      for (type, token) in starts { lines.insert("start \(type) \(token) of \(owner)") }
    }
    return lines
  }
}
