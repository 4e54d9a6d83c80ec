import RideCore

/// All keys of the rule files.
///
/// `check` reads it for unknown, missing and misplaced keys; the tables in `docs/rules.md` and
/// `schedules/schema.json` are made from it: `RECORD_GOLDEN=1 make test FILTER=KeyTableTests` rewrites
/// both.
enum KeyTable {
  /// The keys that determine when a rule fires.
  static let triggers = ["on", "at", "every", "cron"]
  /// The keys that determine what a rule sends.
  static let actions = pushes + ["live-activity", "emit"]
  /// Those that send a push when the rule fires; a card has a life of its own.
  static let pushes = notifications + ["post"]
  /// Those that phones receive.
  static let notifications = ["alert", "background"] + AppExtension.allCases.map(\.rawValue)
  /// The allowed N of `missed: { all: N }`.
  static let missedBounds: ClosedRange<Int64> = 1...1000

  /// What to write instead of a trigger in a rule with a card.
  static let notInCards =
    "start, urgent and end within live-activity: a card has its own life cycle"

  static let file = MappingForm(
    subject: "a rule file",
    keys: [
      Key("states", .mapping(states), "The states of rides; in one file only."),
      Key("events", .words, "Further events. Each state is also an event, as is `ride_updated`."),
      Key(
        "attributes", .attributeTypes,
        "The attributes of rides and their types, see [Attributes](#attributes); in one file only."),
      Key(
        "defaults", .mapping(defaults),
        "What rules of all files have unless they state it; in one file only."),
      Key("rules", .mappings(rule), "The rules."),
    ])

  static let states: MappingForm = {
    let missing = "the lists active (on the agenda) and final (over)"
    return MappingForm(
      subject: "states",
      keys: [
        Key("active", .words, "States of rides on the agenda.", required: missing),
        Key("final", .words, "States of rides that are over.", required: missing),
      ])
  }()

  static let rule: MappingForm = {
    func trigger(
      _ name: String, _ form: ValueForm, _ summary: String,
      partner: (name: String, why: String)? = nil
    ) -> Key {
      Key(
        name, form, summary, partner: partner, nextTo: pushes + ["emit"], otherwise: notInCards)
    }
    let duration = ValueForm.duration(such: "15s, 20m or 1h30m")
    return MappingForm(
      subject: "a rule",
      keys: [
        Key(
          "name", .word(.ruleName), "Unique in all files; the ledger, commands and metrics use it.",
          required: WordForm.ruleName.rule),
        Key(
          "app", .oneOrMore(.app, such: "[customer, fleet]"),
          "The app whose phones receive the push, or a list of apps. A card has one.",
          required: WordForm.app.rule),
        trigger("on", .oneOrMoreWords, "Fires on these events."),
        trigger(
          "every", duration,
          "Fires one period after the ride entered the states, then each period.",
          partner: ("while", "the states in which it repeats, such as [driver_en_route]")),
        trigger(
          "at", .times,
          "Fires at this time, or at each of a list: `pickup_at`, `attributes.KEY`, an event or "
            + "`contact`, with `+` or `-` and a duration or `attributes.KEY` (seconds)."),
        TimerKeys.late,
        trigger("cron", .cron, "Fires at these times: minute, hour, day of month, month, weekday."),
        Key(
          "time-zone", .timeZone, "The zone of `cron`; without it, UTC.", nextTo: ["cron"],
          otherwise: "it next to cron only"),
        Key(
          "missed", .missed, "What happens to missed slots of `cron`; without it, `skip`.",
          nextTo: ["cron"], otherwise: "it next to cron only"),
        Key(
          "while", .oneOrMoreWords,
          "Fires and sends only in these states; without it, in every active state, and with `on` "
            + "or an event in `at` in any state.",
          nextTo: triggers, otherwise: notInCards),
        Key(
          "if", .expression,
          "Fires only if this is true, and sends only if it still is: an expression in CEL, see "
            + "[Conditions](#conditions). On a card: whether one is started."),
        Key(
          "remember", .attributes,
          "Keeps these columns and attributes of the ride when the rule fires; `if` reads them as "
            + "`last`.",
          partner: (
            "if", "what reads them, such as last == null || last.eta != ride.attributes.eta"
          ),
          nextTo: pushes + ["emit"],
          otherwise: "the rule without it: a card has no former firing, its if decides on a start"),
        Key(
          "lost-after", duration,
          "`every` stops when the ride has not changed for this time; without it, 1d.",
          nextTo: ["every"], otherwise: "it next to every only: how long a ride may stay unchanged"),
        Key(
          "alert", .mapping(alert),
          "Sends a visible alert; without texts, those of [the rule's name](#strings)."),
        Key("background", .emptyMapping, "Sends a silent push that wakes the app."),
        Key("widgets", .emptyMapping, "Reloads the app's widgets (iOS 26)."),
        Key("controls", .emptyMapping, "Reloads one of the app's controls (iOS 18)."),
        Key("location", .emptyMapping, "Makes the app's location extension report the position."),
        Key("live-activity", .mapping(liveActivity), "Keeps a card on the lock screen."),
        TimerKeys.emit,
        PostKeys.post,
        PostKeys.text,
        Key(
          "data", .payload(reserved: "aps"), "Custom keys next to `aps`.",
          nextTo: pushes + ["live-activity"],
          otherwise: "nothing: an emitted event has the data of the event that made the rule fire"),
        Key(
          "expires", .expiry,
          "How long the push is valid, counted from the firing. Without it a "
            + "`background` push is never stored, see [Background](#background).",
          required: "a duration such as 5m, or never-store: without it Apple may keep the push for "
            + "30 days",
          optionalNextTo: ["background"],
          nextTo: pushes + ["live-activity"],
          otherwise: "nothing: an event is emitted however late"),
        Key(
          "collapse", .text(expected: "a text of at most 64 bytes such as \"ride-{{ride.id}}\""),
          "`apns-collapse-id`: a newer push replaces an older one.",
          nextTo: notifications, otherwise: "nothing: a card's pushes replace each other"),
        Key(
          "priority", .priority,
          "When it is delivered: 10 at once, 5 when it suits the phone, 1 without waking it. "
            + "`background` takes only 5; without it, see [Priority](#priority).",
          nextTo: notifications,
          otherwise: "urgent within live-activity: its events are sent at 10, everything else at 5"),
        Key(
          "with-card", .choice(WithCard.allCases.map(\.rawValue)),
          "On a phone with a card of the ride: `send` sends the alert, `skip` does not; without it, the "
            + "card's own alert for the event takes its place.",
          nextTo: ["alert"],
          otherwise: "it next to alert: it decides about a phone that shows a card of the ride"),
        TimerKeys.escalate, android,
      ] + limits,
      exactlyOne: [triggers + ["live-activity"], actions])
  }()

  static let alert: MappingForm = {
    let key = ValueForm.text(expected: "a key of the app's strings, such as DRIVER_ARRIVED")
    let sound = "default, or a sound file of the app such as horn.caf"
    let filled = "the text that the arguments are filled into"
    let rideText = ValueForm.text(expected: "a text such as \"ride-{{ride.id}}\"")
    return MappingForm(
      subject: "alert",
      keys: [
        Key("title", .localizedText, "The title."),
        Key("subtitle", .localizedText, "The subtitle."),
        Key("body", .localizedText, "The body."),
        Key("title-loc-key", key, "The title, as a key of the app's strings."),
        Key(
          "title-loc-args", .texts, "Its arguments.", partner: ("title-loc-key", filled)),
        Key("subtitle-loc-key", key, "The subtitle, as a key of the app's strings."),
        Key(
          "subtitle-loc-args", .texts, "Its arguments.", partner: ("subtitle-loc-key", filled)),
        Key("loc-key", key, "The body, as a key of the app's strings."),
        Key("loc-args", .texts, "Its arguments.", partner: ("loc-key", filled)),
        Key(
          "sound", .textOrMapping(expected: sound, criticalSound),
          "`default`, or a sound file of the app."),
        Key("badge", .badge, "The number on the app's icon; 0 removes it."),
        Key(
          "interruption-level", .choice(Alert.InterruptionLevel.allCases.map(\.rawValue)),
          "Whether the alert lights the screen and breaks through Focus."),
        Key("thread-id", rideText, "Groups alerts in the list of notifications."),
        Key("category", .text(expected: "a text such as RIDE_OFFER"), "Its actions in the app."),
        Key(
          "relevance-score", .number(0...1, expected: "a number from 0 to 1"),
          "Its rank in the summary."),
        Key("mutable-content", .flag, "The app's service extension may change the alert."),
        Key("content-available", .flag, "The push also wakes the app, as `background` does."),
        Key("target-content-id", rideText, "The window of the app that opens."),
      ])
  }()

  static let texts = ["title", "body", "title-loc-key", "loc-key"]
  /// Without all of these an alert has the strings of its rule's name.
  static let alertTexts = texts + ["subtitle", "subtitle-loc-key"]
  /// The keys of which an alert without such strings has at least one.
  static let shown = texts + ["sound", "badge"]

  static let criticalSound = MappingForm(
    subject: "a critical sound",
    keys: [
      Key(
        "name", .text(expected: "default, or a sound file of the app such as horn.caf"),
        "`default`, or a sound file of the app.", required: "name: default, or a sound file"),
      Key(
        "critical", .one, "Heard although the phone is silent; Apple must approve the app for it.",
        required: "critical: 1: only a critical sound is a mapping; any other is a text"),
      Key("volume", .number(0...1, expected: "a number from 0 to 1"), "Its volume; without it, 1."),
    ])

  static let cardAlert = MappingForm(
    subject: "an alert of a card",
    keys: alert.keys.compactMap { key in
      var key = key
      switch key.name {
      case "title", "body", "title-loc-args", "loc-args": return key
      case "sound":
        guard case .textOrMapping(let expected, _) = key.form else { return nil }
        key.form = .text(expected: expected)
        return key
      case "title-loc-key": key.excludedBy = ["title"]
      case "loc-key": key.excludedBy = ["body"]
      default: return nil
      }
      key.otherwise = "one of the two: a card has one place for both"
      return key
    }, atLeastOne: texts)
}
