import Base
import PostgresStore
import RideCore

/// The state of a running service on one screen: whether it sends, and what stands in its way.
struct StatusReport {
  let state: DatabaseState
  let diagnosis: Diagnosis

  /// Judges the state as doctor does; checks that found nothing are left out.
  init(_ state: DatabaseState) {
    self.state = state
    diagnosis = Diagnosis(
      results: DatabaseCheck.results(state).filter {
        $0.standing == .failure || $0.standing == .warning
      })
  }

  private var living: LivingState { state.living.value ?? LivingState() }

  /// Why nothing is sent; nil if something is, as far as the database shows.
  var obstacle: String? {
    guard let living = state.living.value else { return "the database can't be examined" }
    if let hold = living.hold { return hold.text }
    if let problem = state.pin.value?.first { return problem.description }
    if case .failed(let why) = state.pin { return why }
    if let failure = state.trial.value ?? nil { return "settlements fail: \(failure)" }
    if living.claiming.isEmpty { return "no node claims rides" }
    if living.claiming.allSatisfy({ $0.reach == .lost }) {
      return "no node reaches APNs or FCM, or gets answers"
    }
    return nil
  }

  var status: ExitStatus { obstacle == nil ? diagnosis.status : .foundProblems }

  func text(hasColour: Bool) -> String {
    let rows = state.living.value == nil ? [sending] : [sending] + figures
    let width = rows.map { Escape.line($0.0).count }.max() ?? 0
    let lines = rows.map { name, value in
      "\(padded(Escape.line(name), to: width))  \(Escape.line(value))"
    }
    return (lines + ["", DoctorTable(diagnosis: diagnosis, hasColour: hasColour).text])
      .joined(separator: "\n")
  }

  private var sending: (String, String) {
    if let obstacle { return ("sending", "no: \(obstacle)") }
    let last = living.claiming.map(\.sinceClaim).min() ?? .zero
    let nodes = living.claiming.count
    return (
      "sending",
      "yes: \(counted(nodes, "node")) \(nodes == 1 ? "claims" : "claim"), last \(last.rideText) ago"
    )
  }

  private var figures: [(String, String)] {
    let due = living.dueRides
    // Events that no node has read count for the age, also while sending is held.
    let waiting =
      living.oldestDue < .seconds(1)
      ? "" : "; events wait, the oldest for \(living.oldestDue.rideText)"
    let oldest = due == 0 ? "none\(waiting)" : "\(due), the oldest for \(living.oldestDue.rideText)"
    var rows = [("due rides", oldest)]
    rows += living.pauses.all.map { ("paused", $0.text) }
    if living.parkedRides > 0 { rows.append(("parked", counted(Int(living.parkedRides), "ride"))) }
    if living.traffic.isEmpty { rows.append(("pushes", "none within 5 min")) }
    rows += living.traffic.map { ($0.app, $0.text) }
    rows += living.lostPhones.map { lost in
      ("phones", "\(lost.app): \(lost.count) lost within the last hour, \(lost.left) left")
    }
    return rows
  }

  var json: JSONValue {
    var members: [String: JSONValue] = [
      "sending": .bool(obstacle == nil), "obstacle": .orNull(obstacle),
      "checks": diagnosis.json["checks"] ?? .array([]),
    ]
    guard let living = state.living.value else { return .object(members) }
    members["nodes"] = .array(living.nodes.map(\.json))
    members["due_rides"] = .integer(living.dueRides)
    members["oldest_due_seconds"] = .integer(living.oldestDue.components.seconds)
    members["parked_rides"] = .integer(living.parkedRides)
    members["hold"] = living.hold?.json ?? .null
    members["pauses"] = .array(living.pauses.all.map(\.json))
    members["apps"] = .array(living.traffic.map(\.json))
    members["lost_phones"] = .array(living.lostPhones.map(\.json))
    return .object(members)
  }
}

extension SendingHold {
  /// `held since 2026-11-29T02:10:00Z by alice: wrong texts`
  var text: String {
    let author = author.map { " by \($0)" } ?? ""
    return "held since \(CivilTime.iso(since))\(author): \(reason)"
  }

  var json: JSONValue {
    .object([
      "since": .string(CivilTime.exact(since)), "by": .orNull(author), "reason": .string(reason),
    ])
  }
}

extension Pause {
  /// `rule eta until 2026-11-29T03:10:00Z by alice: wrong text`
  var text: String {
    "\(subject) until \(CivilTime.iso(until)) by \(author)" + (reason.map { ": \($0)" } ?? "")
  }

  var json: JSONValue {
    .object([
      "kind": .string(kind.rawValue), "name": .string(name),
      "until": .string(CivilTime.exact(until)), "since": .string(CivilTime.exact(since)),
      "by": .string(author), "reason": .orNull(reason),
    ])
  }
}

extension AppTraffic {
  /// `1204 accepted, 3 failed (BadDeviceToken), 12 waiting (lane_paused) within 5 min`
  fileprivate var text: String {
    func part(_ count: Int64, _ word: String, _ reason: String?) -> String? {
      count == 0 ? nil : "\(count) \(word)" + (reason.map { " (\($0))" } ?? "")
    }
    let parts = [
      "\(accepted) accepted", part(failed, "failed", failure), part(waiting, "waiting", wait),
    ]
    return parts.compactMap(\.self).joined(separator: ", ") + " within 5 min"
  }

  fileprivate var json: JSONValue {
    .object([
      "app": .string(app), "accepted": .integer(accepted), "failed": .integer(failed),
      "waiting": .integer(waiting), "failure": .orNull(failure), "wait": .orNull(wait),
    ])
  }
}

extension LivingState.LostPhones {
  fileprivate var json: JSONValue {
    .object([
      "app": .string(app), "count": .integer(count), "left": .integer(left),
      "reason": .string(reason),
    ])
  }
}
