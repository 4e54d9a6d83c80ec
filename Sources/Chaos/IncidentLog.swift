import Foundation
import PostgresStore
import Synchronization

/// A fault that was injected, or an event that affected the service.
struct Incident: Sendable {
  enum Kind: String, Sendable, CaseIterable {
    case kill = "kill -9 of a node"
    case pause = "SIGSTOP of a node"
    case longPause = "SIGSTOP past the lease"
    case restart = "restart of Postgres"
    case failover = "failover of Postgres"
    case faults = "set of faults"
    case clockStep = "step of Postgres' clock"
    case start = "start of a node"
    case refusedStart = "start without a database"
    case bothNodes = "outage of both nodes"
    case refusal = "refusal of one ride by the ledger"
    case unpark = "unpark of a refused ride"
    case fullDisk = "full disk below the ledger"
    case lockedPhones = "phones' rows locked by an app"
    case lockedTable = "index built on all phones"
    case notifyQueue = "NOTIFY queue filled by another application"
    case revoked = "right revoked from the engine"
    case crowd = "event for 5,000 phones"
    case burst = "5,000 events of one ride"
    case migration = "migration to the next schema"
    case upgrade = "other version of the program"
    case reassignment = "change of a driver during an outage"
    case poisonedRide = "ride that crashes or stalls its decision"
    case crash = "end of a node by a ride's decision"
    case departure = "sign-out or handover of a phone"
    case booking = "row that a trigger of the app updates again"
    case outage = "service that does not answer"

    /// Whether pushes of any ride may wait during the incident.
    var delaysOthers: Bool {
      switch self {
      case .start, .unpark, .crowd, .burst, .reassignment, .poisonedRide, .crash, .departure,
        .booking, .outage:
        false
      default: true
      }
    }

    /// Whether settlements fail or wait during the incident.
    var disturbsSettling: Bool {
      switch self {
      case .refusal, .fullDisk, .lockedPhones, .lockedTable, .revoked: true
      default: false
      }
    }
  }

  var kind: Kind
  /// Seconds since 1970.
  var from: Double
  /// The end, in seconds since 1970; equal to `from` if the incident has no duration.
  var to: Double
  /// The node or the fault concerned.
  var detail: String

  /// Returns the incident as one readable line; times count from the start of the run.
  func line(since start: Double) -> String {
    let length = to - from > 0.05 ? String(format: " for %.1f s", to - from) : ""
    return String(format: "%8.2f s  ", from - start) + "\(kind.rawValue)\(length) \(detail)"
  }
}

/// A phone that was signed out, or registered for another owner.
struct Departure: Sendable {
  let token: String
  let owner: String
  /// When the transaction had committed, in seconds since 1970.
  let at: Double
}

/// Records incidents and the violations that are detected during the run.
final class IncidentLog: Sendable {
  private struct State {
    var incidents: [Incident] = []
    var violations: [String] = []
    var departures: [Departure] = []
    var poisonedRides = 0
  }

  private let state = Mutex(State())

  /// The wall clock in seconds since 1970, as in the simulator's record.
  static var now: Double { Date().timeIntervalSince1970 }

  func record(_ kind: Incident.Kind, from: Double, to: Double? = nil, _ detail: String = "") {
    state.withLock {
      $0.incidents.append(Incident(kind: kind, from: from, to: to ?? from, detail: detail))
    }
  }

  func record(_ departure: Departure) {
    state.withLock { $0.departures.append(departure) }
    record(.departure, from: departure.at, departure.owner)
  }

  var departures: [Departure] { state.withLock { $0.departures } }

  /// Counts rides that are about to end the node that decides them.
  func recordPoisonedRide() { state.withLock { $0.poisonedRides += 1 } }

  var poisonedRides: Int { state.withLock { $0.poisonedRides } }

  func recordViolation(_ text: String) {
    state.withLock { $0.violations.append(text) }
  }

  /// Records a violation if the service caused the failure of an app's own commit; returns true if
  /// it did.
  ///
  /// - Parameter isReported: the failure of this commit is already recorded.
  func recordViolationIfCaused(by error: PostgresError, isReported: Bool = false) -> Bool {
    guard let server = error.server, let cause = Self.causes[server.sqlState] else { return false }
    if !isReported { recordViolation("a commit of an app failed: \(cause) (\(server))") }
    return true
  }

  /// Errors that the service must never cause in an app, by SQLSTATE.
  private static let causes = [
    "40P01": "it was the victim of a deadlock", "54000": "the NOTIFY queue is full",
  ]

  var incidents: [Incident] {
    state.withLock { $0.incidents }.sorted { $0.from < $1.from }
  }

  var violations: [String] { state.withLock { $0.violations } }
}

/// Counts outages as they begin, so that other faults can be injected during an outage.
final class Outages: Sendable {
  enum Kind: CaseIterable, Sendable {
    case oneNode, bothNodes, database
  }

  private let counts = Mutex<[Kind: Int]>([:])

  func begin(_ kind: Kind) {
    counts.withLock { $0[kind, default: 0] += 1 }
  }

  /// Returns how many outages of these kinds have begun.
  func count(of kinds: Set<Kind>) -> Int {
    counts.withLock { counts in kinds.reduce(0) { $0 + (counts[$1] ?? 0) } }
  }
}
