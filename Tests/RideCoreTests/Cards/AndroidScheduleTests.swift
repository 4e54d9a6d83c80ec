import Testing
import TestSupport

@testable import Base
@testable import RideCore
@testable import Timeline

/// A fleet of Android phones under random changes of the ride, answers, kills and lost messages.
@Suite("Random schedules of cards on Android") struct AndroidScheduleTests {
  @Test(arguments: TestSeed.values(24))
  func `each phone ends with the state of the last decision`(seed: UInt64) {
    var world = World(seed: seed)
    for _ in 0..<300 { world.step() }
    world.finish()
    #expect(world.faults.isEmpty, "seed \(seed): \(world.faults.prefix(3))")
    #expect(world.stage.messages.count > 20, "seed \(seed)")
  }

  /// What an app shows of the ride: it ignores a message that is not later than the last one.
  private struct App {
    var timestamp: Int64 = 0
    var status: String?
    var eta: Int64?
    /// Those of the message that it shows.
    var attributes: String?
    var isShown = false

    mutating func receive(_ message: AndroidArrival) {
      if message.timestamp <= timestamp { return }
      timestamp = message.timestamp
      isShown = message.event != "end"
      attributes = message.data("rp_attributes")
      (status, eta) = (message.status, message.eta)
    }
  }

  private struct World {
    var stage = CardStage.android(1, 2, 3)
    var numbers: SeededGenerator
    var faults: [String] = []
    private var apps: [Int64: App] = [:]
    private var eta = 0
    private var lastPhone: Int64 = 3
    private var received = 0
    private var stamps: [Int64: Int64] = [:]
    private var leasedUntil = CardStage.start
    /// Whether FCM loses messages that it accepted.
    private var isLossy = true

    init(seed: UInt64) {
      numbers = SeededGenerator(seed: seed)
      stage.life.end = ["driver_lost"]
      stage.life.urgent.append("driver_assigned")
    }

    mutating func chance(_ percent: Int) -> Bool {
      Int.random(in: 0..<100, using: &numbers) < percent
    }

    mutating func step() {
      if chance(40) {
        eta += 1
        stage.eta(eta)
      }
      if chance(15) {
        let states = ["driver_assigned", "driver_en_route", "driver_arrived", "ride_started"]
        stage.state(states.randomElement(using: &numbers) ?? "")
      }
      if chance(3) { stage.emit("driver_lost") }
      changePhones()
      stage.wait(Double.random(in: 0..<30, using: &numbers))
      let hasCrashed = chance(6)
      if chance(2), !hasCrashed { stage.wait(-Double.random(in: 0..<300, using: &numbers)) }
      handle(crash: hasCrashed ? CardStage.Crash.allCases.randomElement(using: &numbers) : nil)
    }

    private mutating func changePhones() {
      if chance(3) {
        lastPhone += 1
        stage.phones.append(CardStage.androidPhone(lastPhone))
        stage.emit("card_registered")
      }
      if chance(2), stage.phones.count > 1 {
        stage.phones.remove(at: Int.random(in: stage.phones.indices, using: &numbers))
      }
      if chance(2), let index = stage.phones.indices.randomElement(using: &numbers) {
        stage.phones[index].token = "fcm:new-\(eta)-\(lastPhone)-\(received)"
        stage.emit("card_registered")
      }
      if chance(1), let phone = stage.phones.randomElement(using: &numbers),
        apps[phone.id]?.isShown == true
      {
        apps[phone.id] = nil
        stage.cards.append(
          Card(
            .phone(phone.id), app: .customer, ownerID: "c", token: "\(phone.id)",
            registeredAt: stage.now, isGone: true))
        stage.emit("card_ended")
      }
    }

    private mutating func handle(crash: CardStage.Crash?) {
      if stage.now < leasedUntil { return }
      stage.isTakenOver = leasedUntil > CardStage.start && isLost
      var numbers = numbers
      stage.claim(crash: crash) { _ in Self.answer(&numbers) }
      self.numbers = numbers
      deliver()
      isLost = crash != nil
      if crash != nil { leasedUntil = stage.now + CardStage.lease }
    }

    /// Whether the last node ended while it held the ride.
    private var isLost = false

    private static func answer(_ numbers: inout SeededGenerator) -> PushOutcome {
      switch Int.random(in: 0..<20, using: &numbers) {
      case 0: .unanswered(.timeout)
      case 1: .refused(503, "UNAVAILABLE")
      case 2: .unsent(.refusedStream)
      case 3: .unsent(.closed)
      case 4: .refused(429, "DEVICE_QUOTA_EXCEEDED")
      default: .accepted
      }
    }

    /// Delivers what was sent since the last claim, in any order, some of it twice and some never.
    private mutating func deliver() {
      let new = stage.wire.dropFirst(received).compactMap { AndroidArrival($0) }
      received = stage.wire.count
      for message in new {
        if message.timestamp <= stamps[message.phone] ?? 0 {
          faults.append(
            "phone \(message.phone): \(message.timestamp) after \(stamps[message.phone] ?? 0)")
        }
        stamps[message.phone] = message.timestamp
      }
      for message in (new + new.prefix(1)).shuffled(using: &numbers) {
        if stage.cards.contains(where: { $0.target == .phone(message.phone) }) {
          faults.append("phone \(message.phone): \(message.event) after its dismissal")
        }
        if isLossy, chance(5) { continue }
        apps[message.phone, default: App()].receive(message)
      }
      for (phone, app) in apps where app.isShown && app.attributes == nil {
        faults.append("phone \(phone) shows a card without attributes")
      }
    }

    mutating func finish() {
      isLossy = false
      stage.now = max(stage.now, leasedUntil)
      stage.isTakenOver = isLost
      stage.state("driver_assigned")
      stage.run(for: .seconds(2000))
      deliver()
      let dismissed = stage.cards.map(\.target)
      for phone in stage.phones where !dismissed.contains(.phone(phone.id)) {
        let app = apps[phone.id]
        if app?.isShown != true || app?.eta != Int64(eta) || app?.status != "driver_assigned" {
          faults.append("phone \(phone.id) shows \(String(describing: app)), not \(eta)")
        }
      }
      stage.state("ride_completed")
      stage.run(for: .seconds(100))
      deliver()
      for phone in stage.phones where apps[phone.id]?.isShown == true {
        faults.append("phone \(phone.id) is not ended")
      }
      if stage.ledger.values.contains(where: { $0.status == .pending }) {
        faults.append("left pending: \(stage.ledger.values.filter { $0.status == .pending })")
      }
      if let entry = stage.doubled.first { faults.append("two rows of one push: \(entry)") }
      if stage.due != nil || !stage.memo.isEmpty { faults.append("still on the agenda") }
    }
  }
}
