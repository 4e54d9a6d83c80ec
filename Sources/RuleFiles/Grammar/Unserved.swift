/// The words of the rule format that this version knows and does not serve.
enum Unserved {
  /// Keys that make a rule one of a kind that is not served.
  static let kinds = ["every", "before", "after", "cron", "background", "live-activity"]

  /// Keys that go with such kinds.
  static let companions = [
    "by", "while", "time-zone", "missed", "unless-contact-within", "lost-contact",
    "also-with-card",
  ]

  /// Keys that say when a rule speaks.
  static let whens = ["on", "every", "before", "after", "cron"]

  /// Keys that say what a rule sends.
  static let whats = ["alert", "background", "live-activity"]
}
