import RideCore

// The keys of a card and of its fields.
extension KeyTable {
  static let cardField = MappingForm(
    subject: "a typed field",
    keys: [
      Key(
        "value", .fieldValue,
        "The value; with `type: string` it may be a map of locale to text, except with `broadcast`.",
        required: "value: \"{{ride.attributes.eta_epoch}}\""),
      Key(
        "type", .fieldType,
        "The type of the app's property; a value that can't be converted exactly is not sent."),
      Key("optional", .flag, "Without a value the field is null; the app's property is optional."),
      Key(
        "since", .integer(1...1000),
        "The version of the contract that added the field; above 1 the app's property is optional."
      ),
    ])

  /// A field of a list's elements.
  static let elementField = MappingForm(
    subject: "a field of an element",
    keys: [
      Key("type", .fieldType, "The type.", required: "type: string, or another type"),
      Key("optional", .flag, "Whether it may be null."),
    ])

  static let end = MappingForm(
    subject: "an end",
    keys: [
      Key(
        "dismiss", .delay(such: "15m or 0s"),
        "How long the card stays on the screen, at most 4h; `0s` not at all."),
      Key("content", .payload(), "Fields of `content-state` that the ended card shows otherwise."),
    ])

  /// Keys of the first edition, each with what it is now.
  static func former(_ pairs: [YAMLNode.Pair]) -> [String: String] {
    var hints = [
      "also-with-card": "with-card: send in its place",
      "unless-card": "with-card: skip in its place",
    ]
    for pair in pairs where pair.key == "appears-before-pickup" {
      hints[pair.key] = "from: pickup_at - \(pair.value.string ?? "30m") in its place"
    }
    return hints
  }

  static let liveActivity: MappingForm = {
    func duration(_ longest: Duration? = nil, _ why: String = "") -> ValueForm {
      .duration(such: "15s, 2m or 1h30m", limit: longest.map { ($0, why) })
    }
    let noStart = "the rule without it: a channel starts no card; apps subscribe to it"
    let noChannel = "broadcast: true next to it, or the rule without it"
    let eightHours = "iOS ends a card after eight hours"
    return MappingForm(
      subject: "live-activity",
      keys: [
        Key(
          "attributes-type", .typeName, "The app's `ActivityAttributes` type.",
          required: "attributes-type: RideAttributes"),
        Key("attributes", .cardFields, "What never changes; sent with a start."),
        Key(
          "content-state", .cardFields, "What changes; sent whole each time. No `event.…`.",
          required: "content-state: { status: \"{{ride.state}}\" }"),
        Key(
          "start", .oneOrMoreWords, "Events that start a card by push.", excludedBy: ["broadcast"],
          otherwise: noStart),
        Key(
          "end",
          .ends(
            end, longest: LiveActivity.dismissalLimit,
            why: "iOS removes an ended card after four hours"),
          "Events that end a card, in addition to the final states; as a map also how long each "
            + "leaves it on the screen, `0s` not at all, and what it shows then."),
        Key(
          "stale-after",
          .durationByState(
            such: "2m, or { default: 5m, ride_started: 20m }",
            limit: (LiveActivity.ageLimit, eightHours)),
          "How long content stays fresh, also by state; without it, 15 minutes."),
        Key(
          "dismiss-after",
          duration(LiveActivity.dismissalLimit, "iOS removes an ended card after four hours"),
          "How long a card that `end` gives no time stays on the screen; without it, iOS decides."),
        Key(
          "min-interval", duration(.seconds(3600), "a card must show the current state"),
          "Changes within this time are combined; without it, 15 s."),
        Key(
          "urgent", .oneOrMoreWords,
          "Events that are sent immediately, at priority 10, as are those under `alerts`."),
        Key(
          "urgent-per-hour", .integer(1...1000),
          "How many pushes at priority 10 a card gets; without it, 20, or 60 if `frequent`."),
        Key("alerts", .mappingByEvent(cardAlert), "The alert that a card shows on an event."),
        Key(
          "lost-after", duration(LiveActivity.ageLimit, eightHours),
          "A card is ended if its ride has no event for this time; without it, 7h45m, or 1d with "
            + "`broadcast`."),
        Key(
          "from", .opening,
          "Before this time no card is started, and one that the app has scheduled (iOS 26) is neither "
            + "refreshed nor outdated.", excludedBy: ["broadcast"],
          otherwise: "the rule without it: apps subscribe to a broadcast card when it appears"),
        Key(
          "relevance-score", .number(nil, expected: "a number such as 75"),
          "Which of several cards iOS shows first."),
        Key(
          "relevance", .numberByEvent,
          "`relevance-score` from an event on, until another event that is named here."),
        Key(
          "input-push-token", .flag,
          "A started card reports an update token (iOS 18); true without it, unless it has a channel.",
          excludedBy: ["broadcast"], otherwise: noStart),
        Key(
          "input-push-channel", .text(expected: "a channel ID"),
          "The channel that a started card subscribes to (iOS 18).",
          excludedBy: ["broadcast", "input-push-token"],
          otherwise: noStart),
        Key("broadcast", .flag, "One card for everyone who follows the ride."),
        Key(
          "channel-storage", .choice(ChannelStorage.allCases.map(\.rawValue)),
          "What the channel keeps for phones that are away; without it, `latest`.",
          nextTo: ["broadcast"], otherwise: noChannel),
        Key(
          "while", .oneOrMoreWords,
          "Active states in which a ride has a channel; without it, all of them.",
          nextTo: ["broadcast"], otherwise: noChannel),
      ])
  }()
}
