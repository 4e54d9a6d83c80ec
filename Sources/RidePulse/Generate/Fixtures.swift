import Base
import RideCore
import Timeline

/// The pushes that the phones of a story receive, as files for simulators and for tests of apps.
///
/// Names begin with the time since the story's start, so that they are sorted as sent, and a further rule
/// renames none.
struct Fixtures {
  /// The contents by path, such as `ios/00h02m00s-customer-ride-card-start.apns`.
  private(set) var files: [String: [UInt8]] = [:]
  /// What is known of each push, in the order of time: a line of `pushes.json` each.
  private var index: [JSONValue] = []
  /// The generated types of the cards, with the folders that have files of them.
  private(set) var folders: [String: Set<FixtureFolder>] = [:]

  /// The apps with `.apns` files.
  private(set) var iosApps: Set<App> = []

  private let start: Timestamp
  private let hourDigits: Int
  private let typeNames: [String: String]

  /// How long a ride is followed after its last step, if the story states no length.
  private static let tail: Duration = .seconds(15 * 60)

  /// - Parameter isChosen: whether files are written of a push with this ledger entry.
  init(
    _ scenario: Scenario, by configuration: EngineConfiguration,
    of isChosen: (LedgerEntry) -> Bool
  ) {
    var scenario = scenario
    scenario.view.phones += scenario.view.phones.filter { $0.platform == .ios }.map(Self.android)
    let last = scenario.steps.last?.at ?? scenario.start
    let end = scenario.length.map { scenario.start + $0 } ?? last + Self.tail
    start = scenario.start
    hourDigits = max(2, String((end - start).components.seconds / 3600).count)
    typeNames = configuration.rules.rules.reduce(into: [:]) { names, rule in
      guard case .liveActivity(let life) = rule.what else { return }
      names[rule.name] = life.contract.lastNameOfType
    }
    var replay = scenario.replay(by: configuration)
    while let pass = replay.next(before: end) {
      for push in pass.decision.pushes where isChosen(push.entry) { add(push, at: pass.now) }
    }
    if files.isEmpty { return }
    let lines = index.map(\.text).joined(separator: ",\n")
    files["pushes.json"] = Array("[\n\(lines)\n]\n".utf8)
  }

  private mutating func add(_ push: PlannedPush, at now: Timestamp) {
    let event = push.entry.cardEvent.map { "-" + $0.rawValue } ?? ""
    let stem = "\(clock(now))-\(push.entry.rule)\(event)"
    let path: String
    switch push.address {
    case .device, .channel:
      path = add(PushFixture.apns(push), named: "ios/\(stem)", "apns")
      iosApps.insert(push.entry.app)
    case .registration: path = add(push.payload, named: "android/\(stem)", "json")
    // The service's own receivers are no phones.
    case .post: return
    }
    index.append(.object(PushFixture.entry(push, at: now, path)))
    guard let type = typeNames[push.entry.rule] else { return }
    for (folder, data) in PushFixture.cardData(push) {
      _ = add(data, named: "\(folder.rawValue)/\(type)/\(stem)", "json")
      folders[type, default: []].insert(folder)
    }
  }

  /// Adds a file, and returns its path; equal content is one file, so that both platforms share it.
  private mutating func add(_ content: [UInt8], named name: String, _ ending: String) -> String {
    let content = content + Array("\n".utf8)
    var path = "\(name).\(ending)"
    var number = 1
    while let other = files[path] {
      if other == content { return path }
      number += 1
      path = "\(name)-\(number).\(ending)"
    }
    files[path] = content
    return path
  }

  /// Returns the time since the start: `00h02m15s`.
  private func clock(_ instant: Timestamp) -> String {
    let seconds = (instant - start).components.seconds
    func padded(_ number: Int64, _ digits: Int) -> String {
      let text = String(number)
      return String(repeating: "0", count: max(0, digits - text.count)) + text
    }
    return padded(seconds / 3600, hourDigits) + "h" + padded(seconds / 60 % 60, 2) + "m"
      + padded(seconds % 60, 2) + "s"
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

/// The folders of the data of cards.
enum FixtureFolder: String, CaseIterable {
  case contentStates = "content-states"
  case attributes
}
