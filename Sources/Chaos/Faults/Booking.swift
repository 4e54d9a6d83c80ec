import RideCore

/// A row of an attached table whose own trigger updates it again.
enum Booking {
  /// The prefix of the IDs of such rides.
  static let prefix = "booking-"

  static let attach = """
    select ridepulse.watch('chaos.bookings', '{"id": {"column": "id", "prefix": "\(prefix)"},
      "state": "state", "customer_id": "customer_id"}')
    """
}

extension FaultInjector {
  /// Rows whose ride has another state than they; one statement sees both as of the same instant.
  private static let stale = """
    select string_agg(b.id || ' is ' || b.state || ', its ride ' || r.state, '; ')
    from chaos.bookings b join ridepulse.rides r on r.id = '\(Booking.prefix)' || b.id
    where r.state <> b.state
    """

  /// Writes rows of an attached table, each of which the app's trigger updates again.
  mutating func writeBookings() async throws {
    let runner = try runner()
    let admin = try admin()
    var number = 0
    var open: [String] = []
    while try await rest(Int.random(in: 500...3_000, using: &numbers)) {
      number += 1
      let id = "\(Booking.prefix)\(number)"
      let phone = Step.phone(
        app: "customer", owner: "customer-\(id)", token: RandomToken.make(words: 4, &numbers))
      try await runner.perform([phone], of: id)
      for state in ["requested", "driver_assigned"].suffix(Int.random(in: 1...2, using: &numbers)) {
        try await book(id, state, runner)
      }
      incidents.record(.booking, from: IncidentLog.now, id)
      if let stale = try await admin.value(Self.stale) {
        incidents.recordViolation("attached rows differ from their rides: \(stale)")
      }
      open.append(id)
      if open.count > 5 { try await book(open.removeFirst(), "ride_completed", runner) }
    }
    for id in open { try await book(id, "ride_completed", runner) }
  }

  private func book(_ id: String, _ state: String, _ runner: StepRunner) async throws {
    try await runner.perform([.booking(state: state, customer: "customer-\(id)")], of: id)
  }
}
