import SimulatorKit

@testable import Base
@testable import FCMSimulator
@testable import RideCore
@testable import Timeline

/// The simulator of FCM with one phone, without its network.
struct FCMInbox {
  private var phone = FCMSimulator.Phone()
  private var generator: FCMSimulator.SeededGenerator
  private(set) var outcomes: [InboxOutcome] = []
  /// How often the app was told that messages were deleted.
  private(set) var deletions = 0
  private var wasWiped = false

  init(seed: UInt64) { generator = FCMSimulator.SeededGenerator(seed: seed) }

  mutating func apply(_ step: ScreenLife.Step) {
    let now = WallTime(
      seconds: Int(step.at.epochSeconds), microseconds: Int(step.at.fraction))
    switch step.kind {
    case .push(let push):
      guard case .fcm(let ttl, let key) = push.storage else { return }
      let message = StoredMessage(
        name: push.id, acceptedAt: now, ttl: Int(ttl), isHigh: true, collapseKey: key,
        showsNotification: true, content: [:])
      record(phone.accept(message, at: now))
    case .leaves: record(phone.become(.offline, at: now, using: &generator))
    case .returns:
      record(phone.become(.awake, at: now, using: &generator))
      if wasWiped { deletions += 1 }
      wasWiped = false
    }
  }

  private mutating func record(_ deliveries: [FCMSimulator.Delivery]) {
    outcomes += deliveries.map { delivery in
      let word =
        switch delivery.outcome {
        case .delivered: "delivered"
        case .collapsed: "replaced"
        case .discarded: "not stored"
        case .expired: "expired"
        case .wiped: "wiped"
        }
      if delivery.outcome == .wiped { wasWiped = true }
      return InboxOutcome(
        id: delivery.message.name, word: word,
        at: Timestamp(microseconds: Int64(delivery.at.total)))
    }
  }
}
