import RideCore

// The keys of `android`, by what the rule sends.
extension KeyTable {
  static let android = Key(
    "android",
    .mappingNextTo([
      ("alert", androidAlert), ("background", androidBackground), ("live-activity", androidCard),
    ]), "What Apple has no word for: how an Android phone shows the push, see [Android](#android).",
    nextTo: ["alert", "background", "live-activity"],
    otherwise: "the rule without it: the push reaches no Android phone")

  static let androidAlert = MappingForm(
    subject: "android next to alert",
    keys: [
      Key(
        "draw", .choice(AndroidStyle.Drawing.allCases.map(\.rawValue)),
        "Who draws the alert; without it the system, or the app if the alert needs it: for "
          + "`category`, `mutable-content`, `content-available` and `escalate`."),
      Key(
        "channel", .word(.channel),
        "The app's notification channel; without it `ride_quiet` (passive, or no sound), `ride_news`, "
          + "or `ride_now` (time-sensitive, critical)."),
      Key("image", .localizedText, "An https URL of a picture."),
      Key(
        "click-action", .text(expected: "the action of an intent such as OPEN_RIDE"),
        "The action of the intent that a tap starts; without it, the app opens."),
      priority,
    ])

  static let androidBackground = MappingForm(
    subject: "android next to background", keys: [priority])

  private static let priority = Key(
    "priority", .choice(AndroidPriority.allCases.map(\.rawValue)),
    "Whether it wakes the phone; without it, as the rule's priority: 10 is `high`.")

  static let androidCard = MappingForm(
    subject: "android next to live-activity",
    keys: [
      Key("title", .localizedText, "The card's title; without it, the app writes it."),
      Key("text", .localizedText, "The line below the title."),
      Key(
        "short-text", .localizedText,
        "The chip in the status bar, about 7 characters such as a plate.",
        excludedBy: ["countdown"],
        otherwise: "one of the two: the chip shows the time that the phone counts down to"),
      Key(
        "countdown",
        .placeholder(
          expected: "one placeholder of a time, such as {{ride.pickup_at}} or an attribute of the "
            + "type time"),
        "The time that the phone counts down to, as one placeholder."),
      Key(
        "steps", .steps(androidStep),
        "The segments of the progress bar; the ride's state is the present one."),
      Key(
        "progress",
        .placeholder(
          expected: "one placeholder of a number from 0 to 1, such as an attribute of the type "
            + "number"),
        "How far the ride is within its step, from 0 to 1, as one placeholder.",
        partner: ("steps", "the segments of the bar, within one of which the ride is")),
      Key("color", .text(expected: "a color such as \"#1f7a4d\""), "The card's color, `#rrggbb`."),
    ])

  static let androidStep = MappingForm(
    subject: "a step",
    keys: [
      Key("at", .word(.event), "The ride's state.", required: "at: an active state"),
      Key("label", .localizedText, "A text for the app to show at its point."),
    ])
}

/// `priority` of `android`.
enum AndroidPriority: String, CaseIterable {
  case high, normal
}
