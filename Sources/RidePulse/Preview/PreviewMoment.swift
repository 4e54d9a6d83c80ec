import Base
import RideCore
import Timeline

/// The pushes of one group of a preview, as its page lists them.
struct PreviewMoment {
  let at: Timestamp
  let ride: RideID
  let zone: ZoneTimes?
  let rule: String
  let app: String
  let type: String
  /// Whether it alerts a person; a card's push does if it has an alert.
  let isAlert: Bool
  private let attention: Attention?
  private let texts: [String]
  private let details: String
  private let payload: String

  init(_ group: PreviewGroup) {
    let push = group.first
    at = group.at
    ride = group.ride.id
    zone = ZoneTimes(identifier: group.ride.timeZone)
    rule = push.entry.rule
    app = push.entry.app.rawValue
    type = push.entry.typeName
    let shown = group.pushes.map(ReadablePush.init)
    isAlert = push.entry.kind == .push && shown.contains(where: \.isAlert)
    let asked = group.pushes.filter { $0.entry.kind == .push }.compactMap {
      ScreenPush($0, ofRide: group.ride.id).attention(at: group.at)
    }
    attention = asked.max { $0.rank < $1.rank }
    texts = shown.reduce(into: []) { texts, push in
      let text = [push.title, push.subtitle, push.body].compactMap(\.self)
        .joined(separator: " · ")
      if !text.isEmpty, !texts.contains(text) { texts.append(text) }
    }
    details = [
      "\(LedgerText.kind(type, push.entry.cardEvent?.rawValue)) to \(app)",
      "\(group.phones) \(group.pushes.count == 1 ? "phone" : "phones")",
      "priority \(push.headers.priority.rawValue)",
      Self.validity(push.headers.expiration, zone, nextTo: group.at),
    ].joined(separator: ", ")
    payload = String(decoding: push.payload, as: UTF8.self)
  }

  private static func validity(
    _ expiration: PushExpiration, _ zone: ZoneTimes?, nextTo now: Timestamp
  ) -> String {
    switch expiration {
    case .neverStore: "never stored"
    case .at(let instant): "valid until \(CivilTime.clock(instant, zone, nextTo: now))"
    }
  }

  /// An item of a list, at a time next to another one.
  func html(nextTo start: Timestamp) -> String {
    let word = attention?.rawValue ?? "unseen"
    let texts = texts.prefix(Self.textLimit).map { "<p dir=\"auto\">\(HTML.text($0))</p>" }
    // Without the offset, which the head of the ride has.
    let clock = CivilTime.clock(at, zone, nextTo: start).dropLast(7)
    return """
      <li><time datetime="\(CivilTime.iso(at))">\(clock)</time>\
      <span>\(word)</span><div>\(texts.joined())<p class="dim"><b>\(HTML.text(rule))</b> \
      \(HTML.text(details))</p>\
      <details><summary class="dim">Payload, \(payload.utf8.count) bytes</summary>\
      <pre>\(HTML.text(payload))</pre></details></div></li>
      """
  }

  /// How many languages of a text are listed.
  private static let textLimit = 5
}

extension Attention {
  fileprivate var rank: Int {
    switch self {
    case .silent: 0
    case .lit: 1
    case .rang: 2
    }
  }
}
