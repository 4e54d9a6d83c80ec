/// The rule files of a run: alerts of short and long validity, a heartbeat every five seconds, and
/// a card.
enum ChaosRules {
  /// The events that an alert rule matches: each committed one must have a row in the ledger.
  static let matchedEvents: Set<String> = [
    "requested", "driver_assigned", "driver_en_route", "driver_arrived", "ride_completed",
    "cancelled_by_customer", "driver_nearby", "chat_message", "ride_offer", "driver_cancelled",
    "driver_reassigned", "news", "board_changed", "note_added",
  ]

  /// The rule of the app `driver` for each event that has one.
  static let driverRules = [
    "requested": "requested", "driver_assigned": "given", "driver_en_route": "en-route",
    "driver_cancelled": "taken-away", "driver_reassigned": "given", "chat_message": "chat-driver",
    "ride_offer": "offer",
  ]

  /// An event that is emitted only in transactions that are rolled back, and must never cause a
  /// push.
  static let rolledBackEvent = "rolled_back"

  /// The states that end a ride.
  static let final = ["ride_completed", "cancelled_by_customer"]

  static let yaml = """
    states:
      active: [requested, driver_assigned, driver_en_route, driver_arrived, ride_started,
        driver_cancelled, driver_reassigned]
      final: [ride_completed, cancelled_by_customer]
    events: [driver_nearby, chat_message, ride_offer, rolled_back, news, board_changed, note_added]

    rules:
      - name: requested
        app: driver
        on: requested
        alert:
          title: A ride waits
          body: >-
            {{event.at | weekday}}, {{event.at | date}}, {{event.at | time}},
            {{event.at | relative}}, {{ride.attributes.seats | currency: 'EUR'}},
            {{ride.attributes.seats | plural: 'one=# seat|other=# seats'}}
        data: { ride_id: "{{ride.id}}", driver: "{{ride.attributes.driver_name}}" }
        expires: 20s

      - name: assigned
        app: customer
        on: driver_assigned
        alert: { title: "{{ride.attributes.driver_name}} takes your ride" }
        data: { ride_id: "{{ride.id}}" }
        expires: 5m
        collapse: "ride-{{ride.id}}"

      - name: en-route
        app: driver
        on: driver_en_route
        alert: { title: Your customer knows that you come }
        data: { ride_id: "{{ride.id}}", driver: "{{ride.attributes.driver_name}}" }
        expires: 2m

      - name: arrived
        app: customer
        on: driver_arrived
        alert: { title: Your driver is here }
        data: { ride_id: "{{ride.id}}" }
        expires: 1m
        collapse: "ride-{{ride.id}}"

      - name: over
        app: customer
        on: [ride_completed, cancelled_by_customer]
        alert: { title: Thank you }
        data: { ride_id: "{{ride.id}}" }
        expires: 30m
        collapse: "ride-{{ride.id}}"

      - name: nearby
        app: customer
        on: driver_nearby
        alert: { title: Your driver is near }
        data: { ride_id: "{{ride.id}}" }
        expires: 3s

      - name: chat-customer
        app: customer
        on: chat_message
        alert: { title: A message, body: "{{event.data.text}}" }
        data: { ride_id: "{{ride.id}}" }
        expires: 10s

      - name: chat-driver
        app: driver
        on: chat_message
        alert: { title: A message, body: "{{event.data.text}}" }
        data: { ride_id: "{{ride.id}}", driver: "{{ride.attributes.driver_name}}" }
        expires: 30m

      - name: offer
        app: driver
        on: ride_offer
        alert: { title: Take this one }
        data: { ride_id: "{{ride.id}}", driver: "{{event.data.driver_id}}" }
        expires: never-store

      - name: given
        app: driver
        on: [driver_assigned, driver_reassigned]
        alert: { title: "The ride is yours, {{ride.attributes.driver_name}}" }
        data: { ride_id: "{{ride.id}}", driver: "{{ride.attributes.driver_name}}" }
        expires: 10m

      - name: taken-away
        app: driver
        on: driver_cancelled
        alert: { title: "The ride was cancelled, {{ride.attributes.driver_name}}" }
        data: { ride_id: "{{ride.id}}", driver: "{{ride.attributes.driver_name}}" }
        expires: 10m

      - name: news
        app: customer
        on: news
        alert: { title: News, body: "{{event.data.text}}" }
        data: { ride_id: "{{ride.id}}" }
        expires: 10m

      - name: board
        app: customer
        on: board_changed
        alert: { title: "Stop {{event.data.number}}" }
        data: { ride_id: "{{ride.id}}" }
        expires: 30m
        collapse: "board-{{ride.id}}"

      - name: note
        app: customer
        on: note_added
        alert: { title: "Note {{event.data.number}}" }
        data: { ride_id: "{{ride.id}}", customer: "{{ride.customer_id}}" }
        expires: 5m

      - name: rolled-back
        app: customer
        on: rolled_back
        alert: { title: Must not be sent }
        data: { ride_id: "{{ride.id}}" }
        expires: 30m

      - name: heartbeat
        app: driver
        every: 5s
        while: [driver_assigned, driver_en_route, driver_arrived, ride_started]
        background: {}
        data: { kind: heartbeat, ride_id: "{{ride.id}}", driver: "{{ride.attributes.driver_name}}" }
        expires: 5s

      - name: card
        app: customer
        live-activity:
          attributes-type: RideAttributes
          attributes: { rideId: "{{ride.id}}" }
          content-state:
            status: "{{ride.state}}"
            eta: "{{ride.attributes.eta | default: 0}}"
          start: driver_assigned
          stale-after: 20s
          dismiss-after: 10m
          min-interval: 2s
          urgent: [driver_assigned, driver_arrived, ride_started]
          alerts:
            driver_assigned: { title: A driver takes your ride }
            driver_arrived: { title: Your driver is here }
        data: { ride_id: "{{ride.id}}" }
        expires: 30s

    """
}
