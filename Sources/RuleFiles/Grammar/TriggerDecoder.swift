import Foundation
import RideCore

/// Decodes when a rule fires: on events, or at slots of time.
struct TriggerDecoder {
  let log: Diagnostics
  let vocabulary: Vocabulary

  func when(_ fields: Fields) -> Rule.When? {
    if fields["live-activity"] != nil, fields["alert"] == nil, fields["background"] == nil {
      log.reportStray(
        KeyGroup.whens + ["by", "while", "time-zone", "missed"], in: fields,
        "in a rule with \"live-activity\"",
        expected: "start, urgent and end within live-activity: a card has a life of its own")
      return .life
    }
    let key = log.single(
      KeyGroup.whens, in: fields, lack: "when it speaks",
      expected: "on with an event such as driver_arrived, or with a list of events; or every, "
        + "before, after or cron")
    guard let key, let node = fields[key] else { return nil }
    reportStrays(key, fields)
    switch key {
    case "every": return every(node, fields)
    case "before", "after": return relative(key, node, fields)
    case "cron": return cron(node, fields)
    default: return on(node)
    }
  }

  private func reportStrays(_ key: String, _ fields: Fields) {
    if key == "on" {
      log.reportStray(
        ["while"], in: fields, "in a rule with \"on\"",
        expected: "no \"while\": an event speaks in whatever state the ride is")
    }
    if key != "cron" {
      log.reportStray(
        ["time-zone", "missed"], in: fields, "in a rule with \(quoted(key))",
        expected: "it beside cron only")
    }
    if key != "before", key != "after" {
      log.reportStray(
        ["by"], in: fields, "in a rule with \(quoted(key))",
        expected: "it beside before or after: how long before or after the time")
    }
  }

  private func cron(_ node: YAMLNode, _ fields: Fields) -> Rule.When? {
    let schedule = cronSchedule(node)
    let zone = timeZone(fields["time-zone"])
    let missed = fields["missed"].map(missedSlots) ?? .skip
    guard let states = states(fields, final: false), let schedule, let zone, let missed else {
      return nil
    }
    return .at(Timing(.cron(schedule, zone: zone, missed: missed), while: states))
  }

  private func cronSchedule(_ node: YAMLNode) -> CronSchedule? {
    let example = "a cron expression in quotes such as \"0 8 * * MON-FRI\""
    guard case .scalar(let scalar) = node.kind, let text = node.string else {
      log.reportType(of: node, for: "cron", expected: example)
      return nil
    }
    do {
      return try CronSchedule(text)
    } catch {
      let location = scalar.textPlace.map {
        SourceLocation(line: $0.line, column: $0.column + error.offset)
      }
      log.report(location ?? node.location, "\(error.found) in cron", expected: error.expected)
      return nil
    }
  }

  private func timeZone(_ node: YAMLNode?) -> Timing.Zone? {
    guard let node else { return ZoneTimes(identifier: "UTC").map { .named($0) } }
    if node.string == "ride" { return .ride }
    if let zone = node.string.flatMap(ZoneTimes.init(identifier:)) { return .named(zone) }
    log.reportType(
      of: node, for: "time-zone",
      expected: "ride (the ride's own zone), or a name of the tz database such as Europe/Berlin",
      among: ["ride"] + TimeZone.knownTimeZoneIdentifiers)
    return nil
  }

  private func missedSlots(_ node: YAMLNode) -> Timing.Missed? {
    switch node.string {
    case "skip": return .skip
    case "latest": return .latest
    case "all": return .all(atMost: Timing.Missed.usualBound)
    default: break
    }
    if case .mapping(let pairs) = node.kind, pairs.count == 1, pairs[0].key == "all",
      case .scalar(let scalar) = pairs[0].value.kind, case .integer(let bound) = scalar.value,
      (1...1000).contains(bound)
    {
      return .all(atMost: Int(bound))
    }
    log.reportType(
      of: node, for: "missed",
      expected: "skip, latest, all (the newest \(Timing.Missed.usualBound)), or { all: N } with N "
        + "from 1 to 1000", among: ["skip", "latest", "all"])
    return nil
  }

  private func on(_ node: YAMLNode) -> Rule.When? {
    let words = log.oneOrMoreWords(node, for: "on", form: .event)
    let known = vocabulary.events.sorted()
    for word in words where vocabulary.isComplete && !known.contains(word.text) {
      log.report(
        word.location, "on names the unknown event \(quoted(word.text))",
        expected: "one of \(known.joined(separator: ", "))", word: word.text, among: known)
    }
    return words.isEmpty ? nil : .on(words.map(\.text))
  }

  private func every(_ node: YAMLNode, _ fields: Fields) -> Rule.When? {
    let period = duration(node, for: "every")
    if fields["while"] == nil, !fields.meant.contains("while") {
      log.report(
        fields.location(of: "every"), "every without while",
        expected: "while beside it: the states in which it beats, such as [driver_en_route]")
      return nil
    }
    guard let period, let states = states(fields, final: false) else { return nil }
    return .at(Timing(.every(period), while: states))
  }

  private func relative(_ key: String, _ node: YAMLNode, _ fields: Fields) -> Rule.When? {
    let time = node.string.flatMap(RideTime.init)
    if time == nil {
      log.reportType(
        of: node, for: key,
        expected: "a time of the ride: pickup_at, or attributes.KEY with seconds since 1970 or "
          + "ISO 8601", among: ["pickup_at"])
    }
    guard let by = fields["by"] else {
      if !fields.meant.contains("by") {
        log.report(
          fields.location(of: key), "\(key) without by",
          expected: "by beside it: how long \(key) the time, such as 15m")
      }
      return nil
    }
    let offset = duration(by, for: "by")
    guard let time, let offset, let states = states(fields, final: true) else { return nil }
    return .at(
      Timing(.relative(to: time, by: key == "before" ? .zero - offset : offset), while: states))
  }

  private func duration(_ node: YAMLNode, for key: String) -> Duration? {
    if let duration = node.string.flatMap(Duration.init(rideText:)) { return duration }
    log.reportType(of: node, for: key, expected: "a duration such as 15s, 20m or 1h30m")
    return nil
  }

  /// Decodes the states of `while`; without the key, every active state.
  ///
  /// - Parameter final: whether final states are allowed. A rule that fires repeatedly would never
  ///   stop in one.
  private func states(_ fields: Fields, final: Bool) -> Set<String>? {
    guard let node = fields["while"] else { return Set(vocabulary.active) }
    let words = log.oneOrMoreWords(node, for: "while", form: .event)
    let known = vocabulary.active + vocabulary.final
    var isWhole = !words.isEmpty
    for word in words where vocabulary.isComplete {
      if !known.contains(word.text) {
        log.report(
          word.location, "while names the unknown state \(quoted(word.text))",
          expected: "one of \(known.joined(separator: ", "))", word: word.text, among: known)
        isWhole = false
      } else if !final, vocabulary.final.contains(word.text) {
        log.report(
          word.location, "while names \(quoted(word.text)), in which a ride is over",
          expected: "active states: \(vocabulary.active.joined(separator: ", "))")
        isWhole = false
      }
    }
    return isWhole ? Set(words.map(\.text)) : nil
  }
}
