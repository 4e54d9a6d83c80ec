import RideCore

/// The keys of rules that fire or act later than their event.
enum TimerKeys {
  static let late = Key(
    "late", .duration(such: "30s or 2m"),
    "Fires a time of the ride that is already past when it is set, if by at most this; its push is "
      + "valid that much longer.",
    nextTo: ["at"], otherwise: "it next to at with pickup_at or attributes.KEY only")

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
        "How long the owner has, counted from the firing; at most `expires`.",
        required: "unless-seen-within: 6s, at most as long as expires"),
      Key(
        "emit", .word(.event),
        "The event; its data names the owner as `<app>_id`, and has the data of the cause.",
        required: "emit: an event such as offer_unseen, declared under events"),
    ])
}
