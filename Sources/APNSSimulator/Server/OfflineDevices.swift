import SimulatorKit

/// An accepted push, as far as its delivery depends on it.
struct AcceptedPush: Equatable {
  let apnsID: String
  let acceptedAt: WallTime
  /// Epoch seconds; zero means never stored, nil means stored as long as APNs does.
  let expiration: Int?
  /// Members of the delivery record that describe the push.
  let members: [String: JSON]
  /// Its number in the inbox; 0 if it is not shown there.
  var number = 0
}

/// The outcome of a push to a device that a test watches; one line of `deliveries.jsonl`.
struct Delivery: Equatable {
  enum Outcome: Equatable {
    case delivered
    case replaced(by: String)
    /// `apns-expiration: 0` to a device that is offline.
    case notStored
    case expired

    var word: String {
      switch self {
      case .delivered: "delivered"
      case .replaced: "replaced"
      case .notStored: "not_stored"
      case .expired: "expired"
      }
    }
  }

  let token: String
  let push: AcceptedPush
  let outcome: Outcome
  let at: WallTime

  var json: JSON {
    var members = push.members
    members["token"] = .string(token)
    members["apns_id"] = .string(push.apnsID)
    members["accepted_at"] = .number(push.acceptedAt.fractionalSeconds)
    let time = JSON.number(at.fractionalSeconds)
    members[outcome == .delivered ? "delivered_at" : "dropped_at"] = time
    members["outcome"] = .string(outcome.word)
    if case .replaced(let id) = outcome { members["replaced_by"] = .string(id) }
    return .object(members)
  }
}

/// The devices that a test has taken offline at least once, and what APNs stores for each.
///
/// APNs stores one notification per bundle ID for a device ("Sending notification requests to
/// APNs"), mostly the latest; here it is always the latest. A token belongs to one app on one
/// device, so there is one entry for each token.
struct OfflineDevices {
  /// APNs stores a push without `apns-expiration` for at most 30 days.
  private static let longestStorageSeconds = 30 * 86_400

  private struct Device {
    var isOnline = false
    var stored: AcceptedPush?
  }

  private var devices: [String: Device] = [:]

  var isEmpty: Bool { devices.isEmpty }

  func isOffline(_ token: String) -> Bool { devices[token].map { !$0.isOnline } ?? false }

  mutating func disconnect(_ token: String) {
    devices[token, default: Device()].isOnline = false
  }

  /// Connects a device; returns the outcome of the stored push.
  mutating func connect(_ token: String, at now: WallTime) -> [Delivery] {
    var device = devices[token] ?? Device()
    defer { devices[token] = device }
    device.isOnline = true
    guard let push = device.stored else { return [] }
    device.stored = nil
    let outcome: Delivery.Outcome = Self.isExpired(push, at: now) ? .expired : .delivered
    return [Delivery(token: token, push: push, outcome: outcome, at: now)]
  }

  /// Handles an accepted push; returns what is decided about it and about the one stored before.
  ///
  /// The result is empty for a device that no test has mentioned.
  mutating func accept(_ push: AcceptedPush, for token: String) -> [Delivery] {
    guard var device = devices[token] else { return [] }
    let now = push.acceptedAt
    func decide(_ subject: AcceptedPush, _ outcome: Delivery.Outcome) -> Delivery {
      Delivery(token: token, push: subject, outcome: outcome, at: now)
    }
    if device.isOnline { return [decide(push, .delivered)] }
    if push.expiration == 0 { return [decide(push, .notStored)] }
    if Self.isExpired(push, at: now) { return [decide(push, .expired)] }
    let earlier = device.stored
    device.stored = push
    devices[token] = device
    return earlier.map {
      [decide($0, Self.isExpired($0, at: now) ? .expired : .replaced(by: push.apnsID))]
    } ?? []
  }

  private static func isExpired(_ push: AcceptedPush, at now: WallTime) -> Bool {
    now.seconds > push.expiration ?? push.acceptedAt.seconds + longestStorageSeconds
  }
}
