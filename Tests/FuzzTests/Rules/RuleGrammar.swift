/// A grammar of rule files: the texts that may stand for each symbol; `$word` in them is a symbol.
///
/// The first text of a symbol that occurs within itself has no symbol, so that each derivation
/// ends.
enum RuleGrammar {
  static let texts: [String: [String]] = [frame, rules, triggers, alerts, cards, values]
    .reduce(into: [:]) { $0.merge($1) { first, _ in first } }

  private static let frame: [String: [String]] = [
    "service": [
      """
      states:
        active: [requested, driver_assigned, driver_arrived, ride_started]
        final: [done, no_show]
      events: [told, moved, offer_unseen]

      """
    ],
    "attributes": [
      "",
      """
      attributes: { eta: time, at: time, free_wait: number, fare: number, currency: text, paid: flag,
        plate: text, product: [van, taxi], stops: [{ name: text, at: time }], driver: { name: text } }

      """,
    ],
    "defaults": [
      "", "defaults: { locale: en }\n",
      "defaults: { locale: ar, time-zone: $zone, quiet: $quiet }\n",
      """
      defaults: { apps: { customer: { data: { a: "$text" }, expires: $expiry, collapse: "$text",
        alert: { thread-id: "$text", mutable-content: true } } } }

      """,
    ],
    "rules": ["$rule", "$rule$rule$rule"],
    "rule": [
      "$alertrule", "$alertrule", "$backgroundrule", "$extensionrule", "$emitrule", "$postrule",
      "$cardrule", "$broadcastrule",
    ],
    "head": ["\n  - name: $name\n    app: "],
  ]

  private static let rules: [String: [String]] = [
    "alertrule": [
      """
      $head$apps$when$if
          alert: $alert$data
          expires: $expiry$collapse$priority$withcard$escalate$limits
      """
    ],
    "backgroundrule": [
      "${head}driver$when$if\n    background: {}$data$limits",
      "${head}driver$when\n    background: {}\n    expires: $expiry$collapse",
    ],
    "extensionrule": [
      "${head}customer_widgets$when\n    widgets: {}\n    expires: $expiry",
      "${head}customer_controls$when\n    controls: {}\n    expires: $expiry",
      "${head}driver_location$when\n    location: {}$data\n    expires: $expiry",
    ],
    "emitrule": [
      "${head}driver$when\n    emit: moved",
      "${head}driver$when$if\n    emit: moved",
    ],
    "postrule": [
      """
      ${head}driver$when$if
          post: sms
          text: $localized$data
          expires: $expiry$limits
      """,
      "${head}fleet$when\n    post: mail\n    expires: 1h",
    ],
    "apps": ["customer", "driver", "[customer, fleet]"],
    "collapse": ["", "\n    collapse: \"c-{{ride.id}}\"", "\n    collapse: none"],
    "priority": ["", "", "\n    priority: 5", "\n    priority: 1"],
    "withcard": ["", "", "\n    with-card: send", "\n    with-card: skip"],
    "escalate": ["", "", "\n    escalate: { unless-seen-within: 5s, emit: offer_unseen }"],
    "limits": [
      "", "\n    topic: offers", "\n    topic: offers\n    at-most: { count: 3, per: 10m }",
      "\n    quiet: off", "\n    quiet: $quiet",
      "\n    at-most: { count: 2, per: ride }", "\n    at-most: { count: 1, per: 1h }",
      "\n    topic: offers\n    at-most: { count: 6, per: ride }",
    ],
    "quiet": [
      "{ from: \"22:00\", to: \"07:00\", then: hold }",
      "{ from: \"22:00\", to: \"07:00\", time-zone: $quietzone, then: drop }",
    ],
  ]

  private static let triggers: [String: [String]] = [
    "when": [
      "\n    on: $event", "\n    on: [$event, ride_updated]\n    while: $states", "\n    at: $time",
      "\n    at: [$time, $time]\n    while: $active", "\n    at: $ridetime\n    late: $duration",
      "\n    every: $duration\n    while: $active",
      "\n    every: 20m\n    while: $active\n    lost-after: 2h", "\n    cron: \"$cron\"",
      "\n    cron: \"$cron\"\n    time-zone: $zone\n    missed: $missed\n    while: $active",
    ],
    "time": [
      "$ridetime", "$event", "$event + $duration", "$event + attributes.free_wait",
      "contact + $duration",
    ],
    "ridetime": [
      "pickup_at", "pickup_at - $duration", "pickup_at + $duration", "attributes.at - $duration",
      "attributes.eta + $duration", "attributes.at - attributes.free_wait",
    ],
    "cron": ["0 8 * * MON-FRI", "*/20 * * * *", "0 18 29 2 *"],
    "missed": ["skip", "latest", "all", "{ all: 3 }"],
    "if": [
      "", "\n    if: \"$cel\"",
      "\n    if: \"last == null || $last\"\n    remember: [eta, pickup_at, driver.name, state]",
    ],
    "last": [
      "last.eta != ride.attributes.eta", "ride.pickup_at - last.pickup_at > duration('10m')",
      "last.state == ride.state || last.driver.name == 'Ana'",
    ],
    "cel": [
      "true", "$cel && $cel", "$cel || $cel", "!($cel)", "$cel ? $cel : $cel",
      "ride.attributes.fare > 5", "has(ride.attributes.paid) && !ride.attributes.paid",
      "ride.attributes.product in ['van', 'taxi']", "ride.pickup_at - now < duration('30m')",
      "phone.contact == null || now - phone.contact > duration('5m')",
      "phone.locale.startsWith('de')", "ride.attributes.stops.exists(s, s.name == 'A')",
      "now.getHours(ride.time_zone) >= 22", "event.name == 'told' && has(event.data.a)",
      "contact == null || now - contact > duration('1h')", "share('offers') < 0.5",
      "has(me.pin) && me.pin == '4711'",
      "has(ride.entered.driver_arrived) && now - ride.entered.driver_arrived > duration('2m')",
    ],
  ]

  private static let alerts: [String: [String]] = [
    "alert": [
      "{ title: x }", "{ title: \"$text\", body: $localized }",
      "{}", "{ interruption-level: $level }",
      "{ loc-key: K, loc-args: [\"$text\"], title-loc-key: T, sound: default }",
      "{ body: \"$text\", sound: { name: default, critical: 1 }, interruption-level: critical }",
      "{ badge: 1, sound: s.caf }", "{ body: x, badge: \"{{ride.attributes.fare | int}}\" }",
      "{ title: x, interruption-level: $level, relevance-score: 0.5, category: C }",
      "{ title: x, subtitle: $localized, thread-id: \"$text\", target-content-id: x }",
      "{ title: x, mutable-content: true, content-available: true }",
    ],
    "level": ["passive", "active", "time-sensitive"],
    "localized": ["x", "{ en: \"$text\", ar: \"$text\", pt-PT: x }", "\"{{strings.hello}}\""],
    "text": [
      "x", "{{ride.id}} $text", "{{ride.attributes.plate | default: 'none'}}", "{{strings.hello}}",
      "{{ride.pickup_at | time}}", "{{ride.pickup_at | date: 'Asia/Tokyo'}}",
      "{{ride.attributes.at | weekday: 'Europe/Vienna'}}", "{{ride.attributes.eta | relative}}",
      "{{ride.attributes.fare | currency: 'EUR'}}",
      "{{ride.attributes.fare | minor-currency: 'JPY'}}",
      "{{ride.attributes.fare | currency: ride.attributes.currency}}",
      "{{ride.attributes.fare | plural: 'one=# km|other=# km'}}", "{{event.at | epoch}}",
      "{{event.name | select: 'told=Told|other=Moved'}}", "{{event.data.text | upper}}",
      "{{me.pin | default: ''}}", "{{ride.entered.driver_arrived | time}}",
      "{{ride.pickup_at | time: phone}}", "{{ride.attributes.at | date: phone}}",
    ],
    "data": ["", "\n    data: { a: \"$text\", b: [1, 2.5, null, { c: \"$text\" }] }"],
  ]

  private static let cards: [String: [String]] = [
    "cardrule": [
      """
      $head$cardapp$cardif
          live-activity:
            attributes-type: A$content$start$end$from$stale$look$life
          expires: $expiry$data
      """
    ],
    "cardapp": ["customer", "driver", "fleet"],
    "cardif": ["", "\n    topic: cards", "\n    if: \"$cel\""],
    "content": [
      "\n      content-state: { s: \"{{ride.state}}\" }",
      """

            attributes: { id: $field }
            content-state: { s: "{{ride.state}}", f: $field }
      """,
    ],
    "field": [
      "1", "\"{{ride.attributes.plate | default: ''}}\"", "[1, $field]", "{ a: $field }",
      "{ value: \"{{ride.attributes.eta}}\", type: date-epoch, optional: true, since: 2 }",
      "{ value: \"{{ride.attributes.product}}\", type: [van, taxi] }",
      "{ value: \"{{ride.attributes.stops}}\", type: [$element] }",
      "{ value: { en: x, ar: \"{{ride.id}}\" }, type: string }",
      "{ value: { value: $field }, type: object }",
      "{ value: \"{{ride.attributes.fare}}\", type: double }",
      "\"{{me.pin | default: ''}}\"",
    ],
    "element": ["{ name: string }", "{ name: string, at: { type: int, optional: true } }"],
    "start": ["", "\n      start: driver_assigned", "\n      start: [driver_assigned, told]"],
    "end": [
      "", "\n      end: [done, told]", "\n      end: { done: 10m, no_show: 0s }",
      "\n      end: { told: { dismiss: 10m, content: { s: done } } }",
    ],
    "from": ["", "\n      from: pickup_at - 45m", "\n      from: attributes.at + $duration"],
    "stale": [
      "", "\n      stale-after: 5m", "\n      stale-after: { default: 5m, ride_started: 20m }",
    ],
    "look": [
      "", "\n      alerts: { told: { title: \"x\", body: $localized, sound: default } }",
      "\n      alerts: { done: { loc-key: K, loc-args: [\"{{ride.id}}\"] } }",
      "\n      urgent: [told, moved]\n      urgent-per-hour: 3",
      "\n      relevance-score: 75\n      relevance: { told: 100, done: 0 }",
    ],
    "life": [
      "", "\n      dismiss-after: 10m\n      min-interval: 15s\n      lost-after: 1h",
      "\n      input-push-token: false", "\n      input-push-channel: abcd",
    ],
    "broadcastrule": [
      """
      ${head}fleet
          live-activity: { attributes-type: B, broadcast: true, channel-storage: none,
            while: [ride_started], content-state: { s: "{{ride.state}}" } }
          expires: 5m
      """
    ],
  ]

  private static let values: [String: [String]] = [
    "duration": ["5m", "15s", "1h30m", "2d"],
    "expiry": ["5m", "never-store", "12h"],
    "event": ["told", "moved", "driver_arrived", "done"],
    "states": ["driver_arrived", "[driver_arrived, done]"],
    "active": ["[driver_assigned, ride_started]", "requested"],
    "zone": ["Europe/Vienna", "Asia/Tokyo", "UTC"],
    "quietzone": ["ride", "Europe/Vienna", "phone"],
  ]
}
