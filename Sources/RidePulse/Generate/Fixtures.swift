import Base
import RideCore
import Timeline

/// The messages that the phones of an invented ride receive, for the tests of apps: one of each rule,
/// and of a card one of each event.
struct Fixtures {
  /// The bodies by file, such as `android/customer-ride-card-start.json`.
  private(set) var files: [String: [UInt8]] = [:]

  /// Monday, 23 November 2026, 08:00 UTC: equal rules give equal messages.
  private static let start = Timestamp(epochSeconds: 1_795_420_800)
  /// How long the ride is followed after its last state.
  private static let tail: Duration = .seconds(15 * 60)

  /// - Parameter story: states such as `requested,driver_assigned@2m,driver_arrived`.
  init(
    _ story: String, by configuration: EngineConfiguration
  ) throws(InventedRide.Problem) {
    var scenario = try InventedRide(for: configuration.rules, at: Self.start).scenario(of: story)
    scenario.view.phones += scenario.view.phones.map(Self.android)
    let end = (scenario.steps.last?.at ?? scenario.start) + Self.tail
    var replay = scenario.replay(by: configuration)
    while let pass = replay.next(before: end) {
      for push in pass.decision.pushes { add(push) }
    }
  }

  private mutating func add(_ push: PlannedPush) {
    let event = push.entry.cardEvent.map { "-" + $0.rawValue } ?? ""
    let file = "\(push.platform.rawValue)/\(push.entry.rule)\(event).json"
    if files[file] == nil { files[file] = push.request.payload + Array("\n".utf8) }
  }

  /// Returns an Android phone of the same person, in the same language.
  private static func android(_ phone: Phone) -> Phone {
    let id = phone.id + 1_000_000
    // An installation ID of Firebase.
    let token = "c" + InventedRide.token("android", phone.app, id).prefix(21)
    var android = Phone(
      id: id, app: phone.app, ownerID: phone.ownerID, token: token, locale: phone.locale)
    android.platform = .android
    android.contactedAt = phone.contactedAt
    return android
  }
}
