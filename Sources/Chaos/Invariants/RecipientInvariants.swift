extension Invariant {
  /// 4. Cards receive their pushes in order.
  static func ofCards(_ evidence: Evidence) -> Invariant {
    var invariant = Invariant("4. Cards are updated in order")
    let pushes = evidence.arrivals.filter { $0.pushType == "liveactivity" }
    // The first push to an Android phone's card goes where all others go.
    let updates = pushes.filter { $0.card != nil || $0.cardEvent != "start" }
    invariant.none(
      "pushes to unknown cards",
      updates.filter { evidence.card(of: $0) == nil }.map { evidence.line($0) })
    let byCard = Dictionary(grouping: updates) { evidence.card(of: $0) ?? "" }
    let ofAndroid = Set(updates.compactMap(\.card))
    invariant.count("cards of iPhones", Set(evidence.cards.values).count)
    invariant.count("cards of Android phones", ofAndroid.count)
    invariant.count("pushes to cards", updates.count)
    invariant.none(
      "timestamps that do not rise", byCard.values.flatMap { disorder(in: $0, evidence) }.sorted())
    invariant.none(
      "pushes after an end", byCard.values.flatMap { afterEnd(in: $0, evidence) }.sorted())
    // APNs reported their tokens as gone, or their phones left, so that no end can reach them.
    let gone = Set(pushes.filter { $0.status == 410 }.compactMap { evidence.cards[$0.token] })
    let open = Set(evidence.cards.values).subtracting(gone).union(
      ofAndroid.filter(evidence.hasPhone)
    ).filter { card in
      byCard[card]?.last { $0.isAccepted }?.cardEvent != "end"
    }
    invariant.none("cards whose last push is not an end", open.sorted())
    let starts = Dictionary(
      grouping: pushes.filter { $0.card == nil && $0.cardEvent == "start" && $0.isAccepted }
    ) { $0.ride }
    invariant.count("rides with an accepted start on an iPhone", starts.count)
    invariant.none(
      "rides with more than one",
      starts.filter { $0.value.count > 1 }
        .map { $0.value.map { evidence.line($0) }.joined(separator: "; ") }.sorted())
    return invariant
  }

  /// Returns pairs of pushes whose timestamps do not rise.
  ///
  /// A push that was not accepted may be repeated unchanged: the client resends what APNs provably
  /// did not process.
  private static func disorder(in pushes: [Arrival], _ evidence: Evidence) -> [String] {
    zip(pushes, pushes.dropFirst()).compactMap { one, next in
      guard let before = one.timestamp, let after = next.timestamp else {
        return "no timestamp: \(evidence.line(next))"
      }
      let isSame = after == before && one.id == next.id && !one.isAccepted
      if after > before || isSame { return nil }
      return "\(evidence.line(one)); then \(evidence.line(next))"
        + evidence.pauses(endedBefore: next.at)
    }
  }

  private static func afterEnd(in pushes: [Arrival], _ evidence: Evidence) -> [String] {
    guard let end = pushes.firstIndex(where: { $0.cardEvent == "end" }) else { return [] }
    return pushes[end...].filter { $0.cardEvent != "end" }.map { push in
      "\(evidence.line(pushes[end])); then \(evidence.line(push))"
        + evidence.pauses(endedBefore: push.at)
    }
  }
}

extension Invariant {
  /// 8. Each driver receives the pushes meant for that driver, and no others.
  static func ofDrivers(_ evidence: Evidence) -> Invariant {
    var invariant = Invariant("8. Each driver receives what was meant for that driver")
    let meant = MeantDrivers(evidence)
    var owners: [String: String] = [:]
    for phone in evidence.phones.values where phone.app == "driver" {
      owners[phone.token] = phone.owner
    }
    let arrivals = evidence.arrivals.filter { owners[$0.token] != nil && $0.driver != nil }
    invariant.count("pushes that name a driver", arrivals.count)
    invariant.none(
      "to one driver, and naming another",
      arrivals.filter { $0.driver != owners[$0.token] }.map {
        "\(owners[$0.token] ?? "") received the name of \($0.driver ?? ""): \(evidence.line($0))"
      })
    let rows = evidence.ledger.filter { $0.app == "driver" && $0.eventID != nil }
    invariant.none(
      "to a driver who did not have the ride then",
      rows.compactMap { row in
        guard let owner = row.phone.flatMap({ evidence.phones[$0]?.owner }),
          let event = row.eventID, let drivers = meant.drivers(of: event), !drivers.contains(owner)
        else { return nil }
        return "\(owner) got what was meant for \(drivers.joined(separator: ", ")): \(row.line)"
      })
    let rowsByEvent = Dictionary(grouping: rows) { $0.eventID ?? 0 }
    let expected = meant.expected
    invariant.count("events with a rule for drivers", expected.count)
    let missing = expected.filter { item in
      !(rowsByEvent[item.event.id] ?? []).contains { row in
        row.rule == item.rule && row.phone.flatMap { evidence.phones[$0]?.owner } == item.driver
      }
    }
    invariant.none(
      "without a verdict for the driver meant",
      missing.map { item in
        "event \(item.event.id), \(item.event.name) of \(item.event.ride): nothing for \(item.driver)"
      })
    return invariant
  }
}

/// The drivers that events were meant for when they were committed.
struct MeantDrivers {
  /// By event, the drivers before and after it; one entry if they are the same.
  private var byEvent: [Int64: [String]] = [:]
  /// Each event with a rule for drivers, the driver who must have a verdict, and the rule.
  private(set) var expected: [(event: Evidence.Event, driver: String, rule: String)] = []

  init(_ evidence: Evidence) {
    for events in Dictionary(grouping: evidence.events.values, by: \.ride).values {
      var former: String?
      for event in events.sorted(by: { $0.id < $1.id }) {
        let drivers = [former, event.driver].compactMap(\.self)
        byEvent[event.id] = former == event.driver ? [former].compactMap(\.self) : drivers
        // An event that removes the driver belongs to the former driver.
        if let rule = ChaosRules.driverRules[event.name], let driver = event.driver ?? former {
          expected.append((event, driver, rule))
        }
        former = event.driver
      }
    }
    expected.sort { $0.event.id < $1.event.id }
  }

  /// Returns nil for an event that was not committed.
  func drivers(of event: Int64) -> [String]? { byEvent[event] }
}

extension Invariant {
  /// 9. Tokens that APNs reports as gone are disabled, and the ledger is on its volume.
  static func ofTokens(_ evidence: Evidence) -> Invariant {
    var invariant = Invariant("9. Tokens that APNs reports as gone are disabled")
    let gone = Set(evidence.arrivals.filter { $0.status == 410 }.map(\.token))
    invariant.count("tokens that APNs reported as gone", gone.count)
    invariant.none(
      "enabled at the end", gone.intersection(evidence.enabledTokens).map { "…\($0.suffix(6))" })
    invariant.none("partitions of the ledger on another disk", evidence.strayPartitions)
    return invariant
  }
}
