import RideCore

/// The keys of a test file; `given` and `when` are those of a story.
enum RuleTestKeys {
  static let file = MappingForm(
    subject: "a test file",
    keys: [
      Key("schedules", text, "The rule directory, from the file's own directory."),
      Key("given", .mapping(ScenarioKeys.given), "What each test of the file begins with."),
      Key(
        "tests", .mappings(test), "The tests.",
        required: "tests: a list of mappings with name, when and then"),
    ])

  static let test = MappingForm(
    subject: "a test",
    keys: [
      Key("name", text, "Its name.", required: "name: what the test shows"),
      Key("given", .mapping(ScenarioKeys.given), "Merged over the file's."),
      Key("when", .mappings(ScenarioKeys.step), "What happens, in the order of time."),
      Key(
        "only", .oneOrMore(.ruleName, such: "[driver-heartbeat]"),
        "The rules that are compared; without it, all."),
      Key("then", .mappings(push), "Everything that is sent, or how often."),
      Key("not-sent", .mappings(silence), "What is not sent, and why."),
      Key(
        "for", .duration(such: "10m or 1h30m"),
        "How long the ride is followed; without it, to the last time that the test names."),
    ])

  static let push = MappingForm(
    subject: "an entry of then",
    keys: [
      at, rule, app, owner,
      Key("locale", text, "Only the phones with this locale."), platform,
      Key("card", .choice(CardEvent.allCases.map(\.rawValue)), "What it does to a card."),
      Key(
        "emit", .word(.event), "The event that the rule emits.",
        excludedBy: ["to", "card", "push", "payload", "locale"] + shown,
        otherwise: "an emitted event alone: nothing is sent with it"),
      Key(
        "post", .word(.receiver), "The receiver that the rule posts to.",
        excludedBy: ["card", "emit", "push"] + shown,
        otherwise: "it without the headers of APNs: payload is the body"),
      Key("push", .mapping(headers), "Its type, priority, validity and collapse ID."),
      Key("payload", .payload(), "A part of its payload."),
      Key("title", text, "The title that the phone shows."),
      Key("channel", text, "The notification channel, of Android phones only."),
      Key(
        "drawn-by", .choice(AndroidStyle.Drawing.allCases.map(\.rawValue)),
        "Who draws an alert on Android phones."),
      Key("look", .payload(), "A part of what a card shows on Android phones."),
    ])

  /// What a phone shows, which neither an event nor a post does.
  private static let shown = ["platform", "title"] + ofAndroid
  /// The keys of which each is about Android phones only.
  static let ofAndroid = ["channel", "drawn-by", "look"]

  static let headers = MappingForm(
    subject: "push",
    keys: [
      Key("type", .choice(PushType.allCases.map(\.rawValue)), "apns-push-type."),
      Key("priority", .priority, "apns-priority."),
      Key("expires", .expiry, "How long APNs stores it, from its event or slot on."),
      Key("collapse", text, "apns-collapse-id."),
    ])

  static let rhythm = MappingForm(
    subject: "then",
    keys: [
      Key("count", .integer(0...1_000_000), "How many pushes."),
      Key("gap", duration, "The time from each push to the next."),
      Key(
        "tolerance", duration, "How far a gap may be off.", nextTo: ["gap"],
        otherwise: "it next to gap"),
      Key("none-after", time, "The last time of a push."),
    ],
    atLeastOne: ["count", "gap", "none-after"])

  static let silence = MappingForm(
    subject: "an entry of not-sent",
    keys: [
      at, rule, app, owner, platform,
      Key("reason", text, "The code of the reason in the ledger, or a part of its text."),
    ])

  private static let text = ValueForm.text(expected: "a text")
  private static let duration = ValueForm.duration(such: "20m")
  private static let time = ValueForm.rideTime
  private static let at = Key(
    "at", time, "When, after the start.", required: "at: 10m, or 0s at the start")
  private static let rule = Key(
    "rule", .word(.ruleName), "The rule.", required: "rule: the name of a rule")
  private static let app = Key("to", .word(.app), "The app; without it, any of the rule.")
  private static let owner = Key("owner_id", text, "Only the phones of this person.")
  private static let platform = Key(
    "platform", .choice(Platform.allCases.map(\.rawValue)), "Only the phones of this system.")
}
