import RideCore

// The keys by which a rule spares people, and `defaults`.
extension KeyTable {
  static let defaults = MappingForm(
    subject: "defaults",
    keys: [
      Key(
        "quiet", .mapping(quiet),
        "The quiet hours of alerts with a `topic`, except time-sensitive and critical ones."),
      Key("locale", .word(.locale), "The locale whose text other phones get."),
      Key(
        "time-zone", .zoneName,
        "The zone of events about no ride on phones without one, and of rides whose own is unknown; "
          + "without it, UTC."),
      Key("apps", .mappingByApp(app), "What the rules of one app have unless they state it."),
    ])

  /// What a rule may leave to its app; see `AppDefaults`.
  static let app = MappingForm(
    subject: "the defaults of an app",
    keys: ["data", "expires", "collapse"].compactMap { rule[$0] }
      .map { Key($0.name, $0.form, $0.summary) }
      + [
        Key("alert", .mapping(appAlert), "Keys that its alerts share."),
        Key("android", .mapping(androidAlert), "Keys of `android` that its alerts share."),
      ])

  static let appAlert: MappingForm = {
    let shared = [
      "thread-id", "category", "mutable-content", "content-available", "target-content-id",
    ]
    return MappingForm(
      subject: "the alert of an app", keys: alert.keys.filter { shared.contains($0.name) })
  }()

  static let quiet: MappingForm = {
    let hours = "from and to: times of day such as \"22:00\" and \"07:00\""
    return MappingForm(
      subject: "quiet",
      keys: [
        Key("from", .timeOfDay, "When they begin.", required: hours),
        Key(
          "to", .timeOfDay, "When they end; over midnight if it is before `from`.", required: hours),
        Key(
          "time-zone", .zoneOfQuietHours,
          "The zone of the two times; without it, `ride`. `phone` is that of each phone."),
        Key(
          "then", .choice(QuietHours.Action.allCases.map(\.rawValue)),
          "`hold` sends the push when they end, if it is still valid; `drop` never.",
          required: "then: hold, or then: drop"),
      ])
  }()

  static let cap: MappingForm = {
    let both = "count and per, such as { count: 3, per: 10m }"
    return MappingForm(
      subject: "at-most",
      keys: [
        Key("count", .integer(1...1000), "How many pushes.", required: both),
        Key(
          "per",
          .periodOrRide(limit: (.seconds(7 * 86_400), "pushes are counted for a week")),
          "Within how long, at any time, over all rides; or within the `ride`.", required: both),
      ])
  }()

  /// The last keys of a rule.
  static let limits: [Key] = {
    let notInCards = "the rule without it: a card keeps what it shows up to date, without a sound"
    return [
      Key(
        "topic", .word(.topic),
        "What a person can turn off; without it, preferences don't apply to the rule."),
      Key(
        "quiet", .offOrMapping(quiet), "Hours of the day without its pushes; `off` for none.",
        nextTo: pushes, otherwise: notInCards),
      Key(
        "at-most", .mapping(cap),
        "How many pushes of its `topic` an owner gets within a time or a ride; without a topic, of its "
          + "own.",
        nextTo: pushes, otherwise: notInCards),
    ]
  }()
}
