import RideCore

/// The keys of a story file, which test files share.
enum ScenarioKeys {
  static let file = MappingForm(
    subject: "a story file",
    keys: [
      Key("given", .mapping(given), "The ride, its phones and cards before anything happens."),
      Key(
        "when", .mappings(step), "What happens, in the order of time.",
        required: "when: a list such as [{ at: 10m, state: driver_arrived }]"),
      Key("for", duration, "How long the story is followed."),
    ])

  static let given = MappingForm(
    subject: "given",
    keys: [
      Key("at", time, "When it begins, such as 2026-11-21T08:00:00Z."),
      Key("ride", .mapping(ride), "The ride's row; none if events are about people only."),
      Key("phones", .mappings(phone), "Phones; without the key, one for each app."),
      Key("cards", .mappings(card), "Cards that apps have registered."),
      Key("push_to_start", .mappings(startToken), "Tokens that start a card."),
      Key("preferences", .mappings(preference), "Topics that people have turned off."),
      Key("contacts", .mappings(contact), "When people last made contact."),
    ])

  static let ride = MappingForm(
    subject: "ride",
    keys: [Key("id", .text(expected: "an ID in quotes, such as r1"), "The ride's ID.")] + columns)

  static let phone = MappingForm(
    subject: "a phone",
    keys: address + [
      Key(
        "platform", .choice(Platform.allCases.map(\.rawValue)),
        "The phone's system; ios without it."),
      Key("locale", text, "The language of the app."),
      Key("receipts", .flag, "Whether the app reports receipts; true without it."),
      Key("time_zone", text, "The zone of the phone's clock."),
    ])

  static let card = MappingForm(
    subject: "a card",
    keys: address + [
      Key("activity_id", text, "The activity's ID."),
      Key("frequent", .flag, "Whether the app allows frequent updates."),
    ])

  static let startToken = MappingForm(
    subject: "a push-to-start token",
    keys: address + [Key("attributes_type", text, "The type of the card; without it, the app's.")])

  static let participant = MappingForm(
    subject: "a participant",
    keys: [
      app, Key("owner_id", text, "The person.", required: person),
      Key(
        "attributes", .payload(), "What concerns this person alone: `me` in texts and conditions."),
    ])

  static let preference = MappingForm(
    subject: "a preference",
    keys: [
      app, owner,
      Key("topic", .word(.topic), "The topic.", required: "topic: one that a rule has"),
      Key(
        "allowed", .flag, "Whether the person receives its pushes.",
        required: "allowed: false, or true"),
    ])

  static let contact = MappingForm(
    subject: "a contact",
    keys: [
      app, owner, installation,
      Key("ago", duration, "How long before the start; without it, at the start."),
    ])

  static let step = MappingForm(
    subject: "an entry of when",
    keys: [
      Key("at", time, "When it happens, after the start.", required: "at: 10m, or 0s at the start"),
      Key("event", .word(.event), "An event that is emitted."),
      Key(
        "data", .payload(), "The event's data.", nextTo: ["event"], otherwise: "it next to event"),
      Key(
        "ride", .choice(["none"]), "none: the event is about the people whom its data names.",
        nextTo: ["event"], otherwise: "it next to event"),
      Key("contact", .word(.app), "The owner of this app's phones makes contact."),
      Key(
        "seen", .word(.ruleName), "The apps report the rule's last pushes as seen, as `seen` does."),
      Key(
        "owner_id", text, "Who makes contact, or has seen the push; else the ride's, or everyone.",
        nextTo: ["contact", "seen"], otherwise: "it next to contact or seen"
      ),
      Key(
        "installation_id", text, "The phone that makes contact; without it, any of the owner.",
        nextTo: ["contact"], otherwise: "it next to contact"),
      Key("preference", .mapping(preference), "A person turns a topic off, or on again."),
      Key("apns", .choice(["accepts", "away"]), "What APNs answers from now on."),
      Key(
        "fcm", .choice(["accepts", "away"] + FCMReason.table.keys.sorted()),
        "What FCM answers from now on."),
    ] + columns)

  /// Whether APNs is there, and what it answers.
  static let answer = MappingForm(
    subject: "apns",
    keys: [
      Key(
        "status", .integer(400...599), "The HTTP status.", required: "status: 410, or another one"),
      Key("reason", text, "Apple's reason, such as Unregistered."),
      Key("for", duration, "How long APNs answers so."),
    ])

  /// What FCM answers for some time.
  static let fcmAnswer = MappingForm(
    subject: "fcm",
    keys: [
      Key(
        "reason", .choice(FCMReason.table.keys.sorted()), "Google's word, such as UNAVAILABLE.",
        required: "reason: UNAVAILABLE, or another one"),
      Key("for", duration, "How long FCM answers so."),
    ])

  private static let text = ValueForm.text(expected: "a text")
  private static let duration = ValueForm.duration(such: "10m or 1h30m")
  private static let time = ValueForm.rideTime

  private static let person = "owner_id: the ID of a person"
  private static let app = Key("app", .word(.app), "The app.", required: WordForm.app.rule)
  private static let owner = Key("owner_id", text, "The person; without it, the ride's.")
  private static let installation = Key("installation_id", text, "The app's installation.")

  private static let address = [
    app,
    Key("token", text, "The token; without it, one is made up."),
    owner,
    Key(
      "environment", .choice(APNsEnvironment.allCases.map(\.rawValue)), "The APNs environment."),
    installation,
  ]

  static let columns = [
    Key("state", .word(.event), "The ride's state."),
    Key("customer_id", text, "The customer; null for none."),
    Key("driver_id", text, "The driver; null for none."),
    Key("pickup_at", time, "The pickup time, or a duration after the start; null for none."),
    Key("time_zone", text, "The ride's zone."),
    Key("participants", .mappings(participant), "All further people of the ride."),
    Key("attributes", .payload(), "Attributes; those that are not named stay as they are."),
  ]
}
