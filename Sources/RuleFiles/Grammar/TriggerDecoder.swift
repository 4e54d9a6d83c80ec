import Base
import RideCore

/// Decodes when a rule fires: on events, or at slots of time.
struct TriggerDecoder: FileDecoder {
  let diagnostics: Diagnostics
  let vocabulary: Vocabulary

  /// - Parameter action: the key that determines what the rule sends, if there is exactly one.
  func when(_ fields: Fields, _ action: Field?) -> Rule.When? {
    let isCard = action?.name == "live-activity"
    let trigger =
      isCard
      ? action
      : fields.single(
        of: KeyTable.triggers, lack: "when it fires",
        expected: "on with an event such as driver_arrived, or with a list of events; or at, "
          + "every or cron")
    guard let trigger else { return nil }
    for field in fields.present(fields.keys) {
      let triggers = field.key.nextTo.filter(KeyTable.triggers.contains)
      guard !triggers.isEmpty, !triggers.contains(trigger.name) else { continue }
      fields.reportMisplaced(
        field, "in a rule with \(quoted(trigger.name))",
        expected: isCard ? KeyTable.notInCards : nil)
    }
    switch trigger.name {
    case "live-activity": return .life
    case "every": return every(trigger, fields)
    case "at": return at(trigger, fields)
    case "cron": return cron(trigger, fields)
    default:
      let events = vocabulary.events(
        decode.oneOrMoreWords(trigger), of: "on", diagnostics: diagnostics)
      guard let field = fields["while"] else { return events.isEmpty ? nil : .on(events) }
      guard let states = states(field, final: true), !events.isEmpty else { return nil }
      return .on(events, while: states)
    }
  }

  private func every(_ field: Field, _ fields: Fields) -> Rule.When? {
    let period = decode.duration(field)
    let lostAfter = fields["lost-after"].map(decode.duration) ?? Timing.usualLostAfter
    guard let states = fields.partner(of: field), let states = self.states(states, final: false),
      let period, let lostAfter
    else { return nil }
    return .at(Timing(.every(period), while: states, lostAfter: lostAfter))
  }

  private func at(_ field: Field, _ fields: Fields) -> Rule.When? {
    let times = TimeDecoder(diagnostics: diagnostics, vocabulary: vocabulary).times(field)
    let late = fields["late"].map(decode.duration) ?? .zero
    let isOfRide = times?.contains { if case .ride = $0.base { true } else { false } } == true
    if let times, let field = fields["late"], !isOfRide, !times.isEmpty {
      fields.reportMisplaced(field, "in a rule without a time of the ride")
    }
    let isOfEvents = times?.allSatisfy { $0.event != nil } == true
    let states = isOfEvents && fields["while"] == nil ? nil : states(fields["while"], final: true)
    guard let times, let late, isOfEvents && fields["while"] == nil || states != nil else {
      return nil
    }
    return .at(Timing(.times(times), while: states, late: late))
  }

  private func cron(_ field: Field, _ fields: Fields) -> Rule.When? {
    let schedule = cronSchedule(field)
    let zone = timeZone(fields["time-zone"])
    let missed = fields["missed"].map(missedSlots) ?? .skip
    guard let states = states(fields["while"], final: false), let schedule, let zone, let missed
    else { return nil }
    return .at(Timing(.cron(schedule, zone: zone, missed: missed), while: states))
  }

  private func cronSchedule(_ field: Field) -> CronSchedule? {
    guard case .scalar(let scalar) = field.node.kind, let text = field.node.string else {
      return field.refused("a cron expression in quotes such as \"0 8 * * MON-FRI\"")
    }
    do {
      return try CronSchedule(text)
    } catch {
      let location = scalar.textLocation.map {
        SourceLocation(line: $0.line, column: $0.column + error.offset)
      }
      diagnostics.report(
        location ?? field.node.location, "\(error.found) in cron", expected: error.expected)
      return nil
    }
  }

  private func timeZone(_ field: Field?) -> Timing.Zone? {
    guard let field else { return ZoneTimes(identifier: "UTC").map { .named($0) } }
    return decode.timeZone(field)
  }

  private func missedSlots(_ field: Field) -> Timing.Missed? {
    switch field.node.string {
    case "skip": return .skip
    case "latest": return .latest
    case "all": return .all(atMost: Timing.Missed.usualBound)
    default: break
    }
    let bounds = KeyTable.missedBounds
    if case .mapping(let pairs) = field.node.kind, pairs.count == 1, pairs[0].key == "all",
      let bound = pairs[0].value.integer, bounds.contains(bound)
    {
      return .all(atMost: Int(bound))
    }
    return field.refused(
      "skip, latest, all (the newest \(Timing.Missed.usualBound)), or { all: N } with N "
        + "from \(bounds.lowerBound) to \(bounds.upperBound)", among: ["skip", "latest", "all"])
  }

  /// Decodes the states of `while`; without the key, every active state.
  ///
  /// - Parameter final: whether final states are allowed. A rule that fires repeatedly would never
  ///   stop in one.
  private func states(_ field: Field?, final: Bool) -> Set<String>? {
    guard let field else { return Set(vocabulary.active) }
    let words = decode.oneOrMoreWords(field)
    let known = vocabulary.active + vocabulary.final
    var isWhole = !words.isEmpty
    for word in words where vocabulary.isComplete {
      if !known.contains(word.text) {
        diagnostics.report(
          word.location, "while names the unknown state \(quoted(word.text))",
          expected: "one of \(known.joined(separator: ", "))", word: word.text, among: known)
        isWhole = false
      } else if !final, vocabulary.final.contains(word.text) {
        diagnostics.report(
          word.location, "while names the final state \(quoted(word.text))",
          expected: "active states: \(vocabulary.active.joined(separator: ", "))")
        isWhole = false
      }
    }
    return isWhole ? Set(words.map(\.text)) : nil
  }
}
