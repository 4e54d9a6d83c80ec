import SimulatorKit

@testable import APNSSimulator
@testable import Base
@testable import RideCore
@testable import Timeline

/// What a simulator decided about a push.
struct InboxOutcome {
  var id: String
  var word: String
  var at: Timestamp
}

/// The simulator of APNs with one phone, without its network.
struct APNSInbox {
  private var devices = OfflineDevices()
  private(set) var outcomes: [InboxOutcome] = []

  init() {
    // It keeps nothing of devices that no test has mentioned.
    let start = Self.time(ScreenLife.start)
    for token in ScreenLife.tokens { record(devices.connect(token, at: start)) }
  }

  mutating func apply(_ step: ScreenLife.Step) {
    let now = Self.time(step.at)
    switch step.kind {
    case .push(let push):
      guard case .apns(let expiration) = push.storage else { return }
      record(
        devices.accept(
          AcceptedPush(
            apnsID: push.id, acceptedAt: now, expiration: Int(expiration.epochSeconds),
            members: [:]), for: push.address))
    case .leaves: for token in ScreenLife.tokens { devices.disconnect(token) }
    case .returns: for token in ScreenLife.tokens { record(devices.connect(token, at: now)) }
    }
  }

  private mutating func record(_ deliveries: [Delivery]) {
    outcomes += deliveries.map { delivery in
      let word =
        switch delivery.outcome {
        case .delivered: "delivered"
        case .replaced: "replaced"
        case .notStored: "not stored"
        case .expired: "expired"
        }
      return InboxOutcome(
        id: delivery.push.apnsID, word: word,
        at: Timestamp(microseconds: Int64(delivery.at.total)))
    }
  }

  private static func time(_ instant: Timestamp) -> WallTime {
    WallTime(
      seconds: Int(instant.epochSeconds), microseconds: Int(instant.fraction))
  }
}
