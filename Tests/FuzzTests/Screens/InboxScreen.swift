@testable import Base
@testable import RideCore
@testable import Timeline

/// What is on a screen after these deliveries, computed backwards from what was delivered last.
struct InboxScreen {
  private(set) var notifications: [String] = []
  private(set) var badge: Int64?
  private(set) var cards: [String] = []
  private(set) var rang = 0

  private typealias Delivered = (at: Timestamp, push: ScreenPush)

  init(_ outcomes: [InboxOutcome], _ life: ScreenLife) {
    let delivered = outcomes.compactMap { outcome -> Delivered? in
      life.push(outcome.id).map { (outcome.at, $0) }
    }
    let alerts = delivered.filter { !$0.push.isOfCard && !$0.push.isTooLate(at: $0.at) }
    var seen: Set<String> = []
    for (_, push) in alerts.reversed() {
      guard let title = push.title, seen.insert(push.identity).inserted else { continue }
      notifications.append(title)
    }
    badge = alerts.last { $0.push.badge != nil }?.push.badge
    if badge == 0 { badge = nil }
    rang = alerts.count { $0.push.sounds }
    let ofCards = delivered.filter { $0.push.isOfCard }
    let isAndroid = delivered.first?.push.platform == .android
    if isAndroid { addMessages(ofCards, life.end) } else { addActivities(ofCards, life.end) }
  }

  private struct Activity {
    var state: String
    var since: Timestamp
    var newest: Int64
    var staleAt: Int64?
    var end: Timestamp?
    var gone: Timestamp?

    /// After eight hours iOS ends it, and removes it four hours later.
    mutating func age(to now: Timestamp) {
      guard end == nil, since + .seconds(28_800) <= now else { return }
      end = since + .seconds(28_800)
      gone = since + .seconds(43_200)
      staleAt = nil
    }
  }

  private mutating func addActivities(_ pushes: [Delivered], _ end: Timestamp) {
    var all: [Activity] = []
    for (at, push) in pushes {
      for index in all.indices { all[index].age(to: at) }
      guard let aps = push.payload["aps"], let event = aps["event"]?.word,
        let timestamp = aps["timestamp"]?.number
      else { continue }
      if event == "start" { all.append(Activity(state: "", since: at, newest: .min)) }
      // A push changes the newest card that is not over.
      guard let index = all.lastIndex(where: { $0.end == nil }) else { continue }
      let isNews = timestamp > all[index].newest
      if !isNews, event != "end" { continue }
      if aps["alert"] != nil { rang += 1 }
      if isNews {
        all[index].newest = timestamp
        all[index].state = aps["content-state"]?.text ?? ""
      }
      all[index].staleAt = event == "end" ? nil : aps["stale-date"]?.number
      guard event == "end" else { continue }
      all[index].end = at
      let latest = at + .seconds(14_400)
      let wish = aps["dismissal-date"]?.number.map(Timestamp.init(epochSeconds:))
      all[index].gone = min(wish ?? latest, latest)
    }
    for index in all.indices { all[index].age(to: end) }
    cards = all.filter { card in card.gone.map { $0 > end } ?? true }
      .map { card in
        let isStale = card.staleAt.map { $0 <= end.epochSeconds } ?? false
        return "r1 \(card.state) \(isStale)"
      }
  }

  private mutating func addMessages(_ pushes: [Delivered], _ end: Timestamp) {
    var newest: [String: (time: Int64, isOver: Bool)] = [:]
    var shown: [(name: String, push: ScreenPush)] = []
    for (_, push) in pushes {
      guard let name = push.data("rp_card"), let time = push.data("rp_ts").flatMap({ Int64($0) })
      else { continue }
      let event = push.data("rp_event")
      let known = newest[name]
      if let known, known.time >= time || (known.isOver && event != "start") { continue }
      newest[name] = (time, event == "end")
      if known == nil, event == "end" { continue }
      if push.data("rp_alert") != nil { rang += 1 }
      shown.removeAll { $0.name == name }
      shown.append((name, push))
    }
    let now = end.epochSeconds
    for (name, push) in shown {
      func isPast(_ key: String) -> Bool {
        push.data(key).flatMap { Int64($0) }.map { $0 <= now } ?? false
      }
      if isPast("rp_gone_at") { continue }
      let isStale = push.data("rp_event") != "end" && isPast("rp_stale_at")
      cards.append("\(name) \(push.data("rp_state") ?? "") \(isStale)")
    }
  }
}

extension ScreenPush {
  func data(_ key: String) -> String? {
    payload.value(at: ["message", "data", key])?.word
  }

  private var aps: JSONValue? { payload["aps"] }
  private var drawn: JSONValue? { payload.value(at: ["message", "android", "notification"]) }

  fileprivate var isOfCard: Bool { type == .liveactivity || data("rp_kind") == "card" }

  /// Whether the app on Android no longer draws it.
  fileprivate func isTooLate(at now: Timestamp) -> Bool {
    guard drawn == nil, let until = data("rp_until").flatMap({ Int64($0) }) else { return false }
    return Timestamp(epochSeconds: until) <= now
  }

  fileprivate var title: String? {
    (aps?.value(at: ["alert", "title"]) ?? drawn?["title"])?.word ?? data("rp_title")
  }

  fileprivate var identity: String {
    platform == .ios ? collapseID ?? id : drawn?["tag"]?.word ?? data("rp_tag") ?? id
  }

  fileprivate var badge: Int64? { (aps?["badge"] ?? drawn?["notification_count"])?.number }

  fileprivate var sounds: Bool {
    if platform == .ios {
      return aps?["sound"] != nil && aps?["interruption-level"] != .string("passive")
    }
    let channel = drawn?["channel_id"]?.word ?? data("rp_channel")
    return channel != "ride_quiet" && (drawn?["default_sound"] != nil || data("rp_sound") != nil)
  }
}

extension JSONValue {
  fileprivate var word: String? { if case .string(let text) = self { text } else { nil } }
  fileprivate var number: Int64? { if case .integer(let number) = self { number } else { nil } }
}
