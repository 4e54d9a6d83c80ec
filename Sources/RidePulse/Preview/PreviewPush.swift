import RideCore

/// What one rule would send about one ride at one instant: a push for each phone.
struct PreviewGroup {
  var at: Timestamp
  var ride: Ride
  var pushes: [PlannedPush]

  var first: PlannedPush { pushes[0] }

  /// The pushes of one decision, those of one rule and slot together.
  static func groups(_ decision: Decision, at instant: Timestamp) -> [PreviewGroup] {
    guard let ride = decision.view.ride else { return [] }
    var groups: [PreviewGroup] = []
    for push in decision.pushes {
      if let last = groups.last?.first.entry, last.rule == push.entry.rule,
        last.event == push.entry.event
      {
        groups[groups.count - 1].pushes.append(push)
      } else {
        groups.append(PreviewGroup(at: instant, ride: ride, pushes: [push]))
      }
    }
    return groups
  }
}

/// What is remarkable about a push.
enum PreviewWarning {
  /// From nine tenths of it on a payload is called near its limit.
  static func payload(_ push: PlannedPush) -> String? {
    let limit = push.address.payloadLimit
    return push.payload.count * 10 < limit * 9
      ? nil : "payload has \(push.payload.count) of \(limit) bytes"
  }
}

/// Takes what a preview finds, in the order of time.
protocol PreviewWriter {
  mutating func write(_ group: PreviewGroup) throws
  mutating func end(_ summary: PreviewSummary) throws
}

extension CivilTime {
  /// `2026-11-21T08:15:00Z`, with microseconds where there are any.
  static func exact(_ instant: Timestamp) -> String {
    let rest = instant.microseconds - instant.epochSeconds * 1_000_000
    let text = iso(instant)
    if rest == 0 { return text }
    let digits = String(rest)
    let fraction = String(repeating: "0", count: 6 - digits.count) + digits
    return text.dropLast() + "." + fraction + "Z"
  }

  /// `2026-11-21 09:15:00 +01:00`, as the clock of a zone shows it.
  static func local(_ instant: Timestamp, _ zone: ZoneTimes?) -> String {
    let offset = zone?.offset(at: instant) ?? 0
    let wall = iso(Timestamp(epochSeconds: instant.epochSeconds + offset))
    return wall.dropLast().replacing("T", with: " ") + " " + offsetText(offset)
  }

  /// `+01:00`.
  static func offsetText(_ offset: Int64) -> String {
    let minutes = abs(offset) / 60
    func two(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }
    return (offset < 0 ? "-" : "+") + two(minutes / 60) + ":" + two(minutes % 60)
  }
}
