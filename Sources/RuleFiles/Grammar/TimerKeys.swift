import RideCore

/// The keys of rules that fire or act later than their event.
enum TimerKeys {
  /// `after: { event: driver_arrived }`.
  static let afterEvent = MappingForm(
    subject: "after",
    keys: [
      Key(
        "event", .word(.event), "The event; `by` counts from each of its occurrences.",
        required:
          "event: driver_arrived, or pickup_at or attributes.KEY in the place of the mapping")
    ])

  static let wait = Key(
    "wait", .duration(such: "30s or 2m"),
    "Fires this long after the event, if `while` still holds then.", nextTo: ["on"],
    otherwise: "it next to on only: other rules have a time of their own")

  static let emit = Key(
    "emit", .word(.event),
    "Emits this event of the ride, with the data of the event that made the rule fire.")

  static let escalate = Key(
    "escalate", .mapping(escalation),
    "Emits an event if an owner sees no push of the rule in time.",
    nextTo: ["alert"], otherwise: "it next to alert: only an alert can be seen")

  static let escalation = MappingForm(
    subject: "escalate",
    keys: [
      Key(
        "unless-seen-within", .duration(such: "6s or 2m"),
        "How long the owner has, counted from the event or slot, plus `wait`; at most `expires`.",
        required: "unless-seen-within: 6s, at most as long as expires"),
      Key(
        "emit", .word(.event),
        "The event; its data names the owner as `<app>_id`, and has the data of the cause.",
        required: "emit: an event such as offer_unseen, declared under events"),
    ])
}
