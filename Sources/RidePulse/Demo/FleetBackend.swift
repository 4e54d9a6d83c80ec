import PostgresStore

/// The demo's ride service: writes the steps of the fleet to Postgres, as a real backend would.
struct FleetBackend {
  let session: PostgresSession

  private static let request = Statement(
    name: "fleet_request",
    sql: """
      insert into ridepulse.rides (id, state, customer_id, time_zone, attributes)
      values ($1, 'requested', $2, 'Europe/Berlin', $3::jsonb)
      """)
  private static let phone = Statement(
    name: "fleet_phone",
    sql: """
      select ridepulse.register_device($1, $2, md5($1 || $2) || md5($2 || $1), locale => $3)
      """)
  private static let assign = Statement(
    name: "fleet_assign",
    sql: "update ridepulse.rides set state = 'driver_assigned', driver_id = $2 where id = $1")
  private static let state = Statement(
    name: "fleet_state", sql: "update ridepulse.rides set state = $2 where id = $1")
  private static let emit = Statement(
    name: "fleet_emit", sql: "select ridepulse.emit($2, $1, $3::jsonb)")

  private static let offerCard = Statement(
    name: "fleet_offer_card",
    sql: """
      select ridepulse.register_push_to_start(
        'customer', $1, md5('start' || $1) || md5($1 || 'start'), 'RideAttributes')
      """)
  private static let card = Statement(
    name: "fleet_card",
    sql: """
      select ridepulse.register_live_activity(
        $1, 'customer', $2, md5('card' || $1) || md5($1 || 'card'), 'activity-' || $1)
      """)
  private static let learn = Statement(
    name: "fleet_learn",
    sql: "update ridepulse.rides set attributes = attributes || $2::jsonb where id = $1")

  func perform(_ step: Fleet.Step) async throws {
    _ = try await session.run(calls(for: step))
  }

  private func calls(for step: Fleet.Step) -> [Call] {
    switch step {
    case .request(let ride, let customer, let driver, let attributes):
      [
        Call(Self.phone, ["customer", customer, ride.hasSuffix("3") ? "de" : "en"]),
        Call(Self.phone, ["driver", driver, "en"]),
        Call(Self.request, [ride, customer, attributes]),
      ]
    case .assign(let ride, let driver): [Call(Self.assign, [ride, driver])]
    case .state(let ride, let state): [Call(Self.state, [ride, state])]
    case .offerCard(let customer): [Call(Self.offerCard, [customer])]
    case .card(let ride, let customer): [Call(Self.card, [ride, customer])]
    case .emit("eta_changed", let ride, let data):
      // The attribute updates the card; the event triggers the alert as well.
      [Call(Self.learn, [ride, data]), Call(Self.emit, [ride, "eta_changed", data])]
    case .emit(let event, let ride, let data): [Call(Self.emit, [ride, event, data])]
    }
  }
}
