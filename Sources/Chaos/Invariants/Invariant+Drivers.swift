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
    let told = Dictionary(grouping: rows) { $0.eventID ?? 0 }
    let expected = meant.expected
    invariant.count("events with a rule for drivers", expected.count)
    let missing = expected.filter { item in
      !(told[item.event.id] ?? []).contains { row in
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
    var invariant = Invariant("9. Tokens that APNs calls gone are disabled")
    let gone = Set(evidence.arrivals.filter { $0.status == 410 }.map(\.token))
    invariant.count("tokens that APNs called gone", gone.count)
    invariant.none(
      "enabled at the end", gone.intersection(evidence.enabledTokens).map { "…\($0.suffix(6))" })
    invariant.none("partitions of the ledger on another disk", evidence.strayPartitions)
    return invariant
  }
}
