import Base
import Foundation
import LocalStack
import RideCore
import TestSupport

/// Random rides with cards, decided by the shipped rules: the payloads that would be sent.
struct CardFleet {
  /// `RIDEPULSE_PAYLOADS=100000` decodes as many.
  static let countOfPayloads =
    ProcessInfo.processInfo.environment["RIDEPULSE_PAYLOADS"].flatMap { Int($0) } ?? 2000

  private var numbers: SeededGenerator
  private let rules: RuleSet
  private let configuration: EngineConfiguration
  private let states: [String]
  private let platform: Platform
  /// Cards that were not sent, by the code of the reason.
  private(set) var suppressed: [String: Int] = [:]

  init(_ rules: RuleSet, seed: UInt64, platform: Platform = .ios) {
    self.platform = platform
    numbers = SeededGenerator(seed: seed)
    self.rules = rules
    states = rules.activeStates.union(rules.finalStates).sorted()
    var configuration = EngineConfiguration(
      rules: rules,
      bundleIDs: [.customer: "com.example.customer", .driver: "com.example.driver"])
    if platform == .android { configuration.androidApps = [.customer] }
    self.configuration = configuration
  }

  /// Returns this many payloads of cards, one per line.
  mutating func payloads(_ count: Int) -> Data {
    var lines = Data()
    var left = count
    var ride = 0
    while left > 0 {
      ride += 1
      for payload in payloads(ofRide: ride).prefix(left) {
        lines += Data(payload) + Data("\n".utf8)
        left -= 1
      }
    }
    return lines
  }

  private mutating func payloads(ofRide number: Int) -> [[UInt8]] {
    let now = Timestamp(epochSeconds: 1_800_000_000 + Int64(number))
    var ride = Ride(id: RideID("ride-\(number)"), state: pick(states))
    ride.customerID = "c"
    ride.attributes = attributes()
    let event = RideEvent(id: Int64(number), name: ride.state ?? "", at: now)
    var view = RideView(rideID: ride.id, ride: ride, events: [event])
    if platform == .android {
      var phone = Phone(id: 7, app: .customer, ownerID: "c", token: "cAbCdEfGhIjKlMnOpQrStU")
      phone.platform = .android
      view.phones = [phone]
      let start = RideEvent(
        id: 0, name: "driver_assigned", at: Timestamp(epochSeconds: 1_799_999_000))
      view.memo.runs[App.customer.rawValue] = CardRun(event: start, number: 1)
    } else if Bool.random(using: &numbers) {
      view.startTokens = [
        StartToken(
          id: 1, app: .customer, ownerID: "c", attributesType: "RideAttributes", token: "5a",
          registeredAt: now)
      ]
    } else {
      view.cards = [
        Card(.activity(1), app: .customer, ownerID: "c", token: "ca", registeredAt: now)
      ]
    }
    let decision = decide(view, by: configuration, now: now)
    for entry in decision.unsent where entry.cardEvent != nil {
      suppressed[entry.reason?.code.word ?? "", default: 0] += 1
    }
    return decision.pushes.filter { $0.headers.pushType == .liveactivity }.map(\.payload)
  }

  /// Returns the attributes of a ride: usual values, and all that a backend gets wrong.
  private mutating func attributes() -> String {
    let texts = [
      #""Ana""#, #""Zoë 🚕""#, #""\"\\\n""#, #""""#, "7", "4.5", "-1e-7", "null", "true", "[1]",
      #"{"a":1}"#,
    ]
    let times = [
      "1795248300", #""2026-11-21T08:05:00Z""#, #""2026-11-21T09:05:00.5+01:00""#, "1.7952483e9",
      "null", "0", "-1", "1795248300.5", "1795248300000", #""soon""#, #""1795248300""#, #""""#,
      "true", "[]",
    ]
    var members: [String] = []
    for key in ["driver_name", "vehicle", "plate"] where Int.random(in: 0...9, using: &numbers) > 0
    {
      // Mostly values that fit: a card with one that does not is not sent.
      let usual = Int.random(in: 0...9, using: &numbers) > 0
      members.append("\"\(key)\":\(usual ? pick(Array(texts.prefix(8))) : pick(texts))")
    }
    if Int.random(in: 0...9, using: &numbers) > 0 {
      let usual = Int.random(in: 0...9, using: &numbers) > 1
      members.append("\"eta_epoch\":\(usual ? pick(Array(times.prefix(5))) : pick(times))")
    }
    return "{\(members.joined(separator: ","))}"
  }

  private mutating func pick(_ words: [String]) -> String {
    words.randomElement(using: &numbers) ?? ""
  }
}
