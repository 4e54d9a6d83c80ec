import Foundation
import PostgresStore
import RideCore

// Faults caused by other applications on the same Postgres: locked rows and tables.
extension FaultInjector {
  private static func lockerName(_ name: String) -> String { "chaos-app-\(name)" }

  /// Registers phones and a card in transactions that stay open while APNs reports their tokens as
  /// gone.
  mutating func lockPhones(_ name: String, _ simulator: SimulatorControl) async throws {
    let admin = try admin()
    let runner = try runner()
    var number = 0
    while try await rest(Int.random(in: 1_000...(number == 0 ? 4_000 : 12_000), using: &numbers)) {
      number += 1
      let ride = SpecialRide("locked-\(name)\(number)", seed: numbers.next())
      let start = IncidentLog.now
      let length = Int.random(in: 5_000...25_000, using: &numbers)
      try await lockPhones(of: ride, for: length, name, admin, runner, simulator)
      incidents.record(.lockedPhones, from: start, to: IncidentLog.now, ride.id)
    }
  }

  private func lockPhones(
    of ride: SpecialRide, for length: Int, _ name: String, _ admin: AdminSession,
    _ runner: StepRunner, _ simulator: SimulatorControl
  ) async throws {
    var ride = ride
    let (first, second, card) = (ride.token(), ride.token(), ride.token())
    let phones = [first, second].map { token in
      Step.phone(app: "customer", owner: ride.customer, token: token, installation: token)
    }
    let activity = "activity-\(ride.id)"
    try await runner.perform(
      ride.begin() + phones + [
        .card(activity: activity, owner: ride.customer, token: card, frequent: true)
      ], of: ride.id)
    let locker = try AdminSession(conninfo: conninfo, applicationName: Self.lockerName(name))
    let script = Self.lock(ride.customer, ride.id, activity, first, second, card, length)
    let lock = Task { try await locker.session.script(script, timeout: .seconds(60)) }
    try await waitUntilAsleep(Self.lockerName(name), admin)
    // Use the clock that also dates registrations: a registration dated later would override APNs'
    // answer.
    let now = "select (extract(epoch from clock_timestamp()) * 1000)::bigint"
    if let since = try await admin.value(now) {
      for token in [first, second, card] { try await runner.recordGone(token, since: since) }
      try await simulator.unregister([first, second, card], since: since)
    }
    for _ in 0..<3 {
      try await runner.perform([.emit("news", data: #"{"text": "locked"}"#)], of: ride.id)
      _ = try await rest(length / 4)
    }
    try await end(lock)
    await locker.close()
    try await runner.perform(ride.end(), of: ride.id)
  }

  /// Returns a script that locks the first phone, then the card, and the second phone later, as an
  /// app might.
  private static func lock(
    _ owner: String, _ ride: String, _ activity: String, _ first: String, _ second: String,
    _ card: String, _ length: Int
  ) -> String {
    func register(_ token: String) -> String {
      """
      select ridepulse.register_device('customer', '\(owner)', '\(token)',
        installation_id => '\(token)');
      """
    }
    let sleep = "select pg_sleep(\(Double(length) / 2_000));"
    return """
      begin;
      \(register(first))
      select ridepulse.register_live_activity('\(ride)', 'customer', '\(owner)', '\(card)',
        '\(activity)', frequent => true);
      \(sleep)
      \(register(second))
      \(sleep)
      commit
      """
  }

  /// Waits until the application's transaction holds its first locks, for about 2.5 s at most.
  private func waitUntilAsleep(_ application: String, _ admin: AdminSession) async throws {
    for _ in 0..<50 {
      let count = try await admin.value(
        """
        select count(*) from pg_stat_activity
        where application_name = '\(application)' and wait_event = 'PgSleep'
        """)
      if count == "1" { return }
      try await Task.sleep(for: .milliseconds(50))
    }
  }

  /// Waits for a transaction; one that a restart of Postgres ended, or that waited too long, counts
  /// as ended.
  private func end(_ transaction: Task<Void, any Error>) async throws {
    do {
      try await transaction.value
    } catch let error as PostgresError {
      let isCaused = incidents.recordViolationIfCaused(by: error)
      if !isCaused && !error.isTransient && !error.mayHaveCommitted { throw error }
    }
  }

  /// Builds an index on all phones at random intervals, and holds its lock for several seconds.
  mutating func lockPhoneTable() async throws {
    var number = 0
    while try await rest(
      Int.random(in: number == 0 ? 3_000...8_000 : 30_000...60_000, using: &numbers))
    {
      number += 1
      let length = Int.random(in: 5_000...25_000, using: &numbers)
      let locker = try AdminSession(conninfo: conninfo, applicationName: "chaos-index")
      let start = IncidentLog.now
      let lock = Task {
        try await locker.session.script(
          """
          begin;
          create index chaos_index on ridepulse.devices (locale);
          select pg_sleep(\(Double(length) / 1_000));
          rollback
          """, timeout: .seconds(60))
      }
      try await end(lock)
      await locker.close()
      incidents.record(.lockedTable, from: start, to: IncidentLog.now)
    }
  }
}
