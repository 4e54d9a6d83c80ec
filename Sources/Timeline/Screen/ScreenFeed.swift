package import Base
import RideCore

/// What leaves for each phone of a replay, from which screens are made.
package struct ScreenFeed: Sendable {
  /// By `Phone.id`, in the order of time.
  private var sent: [Int64: [ScreenRun.Step]] = [:]

  package init() {}

  /// Adds the pushes of a decision that a service accepted.
  package mutating func add(_ pass: Pass) { add(pass.departures) }

  mutating func add(_ departures: [Departure]) {
    for departure in departures {
      for phone in departure.phones { add(.push(departure.push), to: phone, at: departure.at) }
    }
  }

  mutating func add(_ happening: ScreenRun.Happening, to phone: Int64, at instant: Timestamp) {
    var known = sent.removeValue(forKey: phone) ?? []
    let index = (known.lastIndex { $0.at <= instant } ?? -1) + 1
    known.insert(ScreenRun.Step(at: instant, happening: happening), at: index)
    sent[phone] = known
  }

  /// Returns a phone's screen as it is at some time.
  package func screen(of phone: ScenarioPhone, at instant: Timestamp) -> Screen {
    var run = self.run(phone)
    return run.screen(at: instant)
  }

  /// Returns a phone's screens at times in their order.
  package func screens(of phone: ScenarioPhone, at instants: [Timestamp]) -> [Screen] {
    var run = self.run(phone)
    return instants.map { run.screen(at: $0) }
  }

  func run(_ phone: ScenarioPhone) -> ScreenRun { ScreenRun(phone, sent[phone.id] ?? []) }

  /// Returns everything that was sent to a phone, whether or not it could be reached.
  package func pushes(to phone: Int64) -> [(at: Timestamp, push: ScreenPush)] {
    (sent[phone] ?? []).compactMap { step in
      if case .push(let push) = step.happening { (step.at, push) } else { nil }
    }
  }

  /// Returns when something reached a phone or happened on it, in order.
  func times(of phone: Int64) -> [Timestamp] { (sent[phone] ?? []).map(\.at) }
}
