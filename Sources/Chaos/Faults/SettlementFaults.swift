import Foundation
import RideCore

// Faults of Postgres that affect settlements: a refused ride, a full disk, a revoked privilege.
extension FaultInjector {
  /// Returns a script that makes a trigger on the ledger raise an error for one ride or for all
  /// rides.
  private static func refuse(_ ride: String?, sqlState: String) -> String {
    let condition = ride.map { "when (new.ride_id = '\($0)')" } ?? ""
    return """
      set lock_timeout = '3s';
      drop trigger if exists chaos_refuse on ridepulse.ledger;
      create trigger chaos_refuse before insert or update on ridepulse.ledger
      for each row \(condition) execute function chaos.refuse('\(sqlState)')
      """
  }

  private static let acceptAll = """
    set lock_timeout = '3s';
    drop trigger if exists chaos_refuse on ridepulse.ledger
    """

  /// Returns a duration in milliseconds, alternately longer and shorter than a lease.
  private mutating func length(of number: Int) -> Int {
    Int.random(in: number.isMultiple(of: 2) ? 3_000...12_000 : 22_000...32_000, using: &numbers)
  }

  /// Returns the rest before a fault; it is short before the first one, so that a short run has
  /// one.
  private mutating func pause(before number: Int) -> Int {
    Int.random(in: number == 1 ? 2_000...6_000 : 20_000...50_000, using: &numbers)
  }

  /// Makes the ledger refuse one ride at a time, while all others settle.
  mutating func refuseRides() async throws {
    let admin = try admin()
    let runner = try runner()
    var number = 1
    while try await rest(pause(before: number)) {
      let ride = SpecialRide("refused-\(number)", seed: numbers.next())
      try await refuse(ride, for: length(of: number), admin, runner)
      number += 1
    }
  }

  private mutating func refuse(
    _ ride: SpecialRide, for length: Int, _ admin: AdminSession, _ runner: StepRunner
  ) async throws {
    var ride = ride
    try await runner.perform(ride.begin(), of: ride.id)
    let start = IncidentLog.now
    try await admin.executeUntilDone(Self.refuse(ride.id, sqlState: "P0001"))
    for event in ["news", "chat_message", "news"] {
      try await runner.perform([.emit(event, data: #"{"text": "refused"}"#)], of: ride.id)
      _ = try await rest(length / 3)
    }
    // Parking requires another ride to be settled: in a long run other faults may prevent that
    // until all of them end.
    if try await !isParked(ride.id, by: .now + .seconds(900), admin) {
      incidents.recordViolation(
        "\(ride.id): its ledger rows are refused for 15 minutes, and it is not parked")
    }
    try await admin.executeUntilDone(Self.acceptAll)
    incidents.record(.refusal, from: start, to: IncidentLog.now, ride.id)
    try await admin.executeUntilDone("select ridepulse.unpark('\(ride.id)')")
    incidents.record(.unpark, from: IncidentLog.now, ride.id)
    try await runner.perform(ride.end(), of: ride.id)
  }

  func isParked(
    _ ride: String, by limit: ContinuousClock.Instant, _ admin: AdminSession
  ) async throws -> Bool {
    while ContinuousClock.now < limit {
      let count = try await admin.value(
        "select count(*) from ridepulse.parked where ride_id = '\(ride)'")
      if count == "1" { return true }
      try await Task.sleep(for: .milliseconds(200))
    }
    return false
  }

  /// Fills the ledger's disk and empties it again.
  ///
  /// Without a volume, a trigger refuses every row with the error of a full disk.
  mutating func fillDisk(_ volume: LedgerVolume?) async throws {
    let admin = try admin()
    var number = 1
    while try await rest(pause(before: number)) {
      let length = length(of: number)
      let start = IncidentLog.now
      if let volume {
        try volume.fill()
        _ = try await rest(length)
        try volume.empty()
      } else {
        try await admin.executeUntilDone(Self.refuse(nil, sqlState: "53100"))
        _ = try await rest(length)
        try await admin.executeUntilDone(Self.acceptAll)
      }
      incidents.record(
        .fullDisk, from: start, to: IncidentLog.now, volume == nil ? "by a trigger" : "")
      number += 1
    }
  }

  /// Revokes a privilege of the engine's role for a while.
  mutating func revokeRights() async throws {
    let admin = try admin()
    var number = 1
    while try await rest(pause(before: number)) {
      let length = length(of: number)
      let right = number % 3 == 2 ? "update on ridepulse.agenda" : "insert on ridepulse.ledger"
      let start = IncidentLog.now
      try await admin.executeUntilDone("revoke \(right) from \(EngineRole.name)")
      _ = try await rest(length)
      try await admin.executeUntilDone("grant \(right) to \(EngineRole.name)")
      incidents.record(.revoked, from: start, to: IncidentLog.now, right)
      number += 1
    }
  }
}
