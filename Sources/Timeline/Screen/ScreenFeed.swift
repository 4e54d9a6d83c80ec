package import Base
import RideCore

/// What leaves for each phone of a replay, from which screens are made.
package struct ScreenFeed: Sendable {
  /// By `Phone.id`.
  private var sent: [Int64: [Departure]] = [:]

  package init() {}

  /// Adds the pushes of a decision that a service accepted.
  package mutating func add(_ pass: Pass) { add(pass.departures) }

  mutating func add(_ departures: [Departure]) {
    for departure in departures {
      for phone in departure.phones { sent[phone, default: []].append(departure) }
    }
  }

  /// Returns a phone's screen as it is at some time.
  package func screen(of phone: ScenarioPhone, at instant: Timestamp) -> Screen {
    var run = ScreenRun(phone, sent[phone.id] ?? [])
    return run.screen(at: instant)
  }

  /// Returns a phone's screens at times in their order.
  package func screens(of phone: ScenarioPhone, at instants: [Timestamp]) -> [Screen] {
    var run = ScreenRun(phone, sent[phone.id] ?? [])
    return instants.map { run.screen(at: $0) }
  }

  /// Returns everything that was sent to a phone, whether or not it could be reached.
  package func pushes(to phone: Int64) -> [(at: Timestamp, push: ScreenPush)] {
    (sent[phone] ?? []).map { ($0.at, $0.push) }
  }
}
