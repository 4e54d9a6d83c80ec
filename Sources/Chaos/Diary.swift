import Foundation
import Synchronization

/// Something that was done to the service, or happened to it.
struct Incident: Sendable {
  /// What was done.
  enum Kind: String, Sendable, CaseIterable {
    case kill = "kill -9 of a node"
    case pause = "SIGSTOP of a node"
    case longPause = "SIGSTOP past the lease"
    case restart = "restart of Postgres"
    case faults = "set of faults"
    case clockStep = "step of Postgres' clock"
    case start = "start of a node"
    case refusedStart = "start without a database"
  }

  var kind: Kind
  /// Seconds since 1970.
  var from: Double
  /// Until when it lasted, as far as it is over.
  var to: Double
  /// Which node, or what fault.
  var detail: String

  /// As one line for a person, with times since the start of the run.
  func line(since start: Double) -> String {
    let length = to - from > 0.05 ? String(format: " for %.1f s", to - from) : ""
    return String(format: "%8.2f s  ", from - start) + "\(kind.rawValue)\(length) \(detail)"
  }
}

/// All that was done, in the order of its beginning, and what else must be said.
final class Diary: Sendable {
  private let state = Mutex((incidents: [Incident](), findings: [String]()))

  /// The wall clock, as the simulator writes it.
  static var now: Double { Date().timeIntervalSince1970 }

  func note(_ kind: Incident.Kind, from: Double, to: Double? = nil, _ detail: String = "") {
    state.withLock {
      $0.incidents.append(Incident(kind: kind, from: from, to: to ?? from, detail: detail))
    }
  }

  /// Something that must not happen, seen while it did.
  func find(_ text: String) {
    state.withLock { $0.findings.append(text) }
  }

  var incidents: [Incident] {
    state.withLock { $0.incidents }.sorted { $0.from < $1.from }
  }

  var findings: [String] { state.withLock { $0.findings } }
}
