/// Reduces the reason of a verdict to one of a few words for metrics: the ledger's own text may
/// name people.
package enum ReasonWord {
  /// Returns Apple's reason, a status, a word of the engine or `other`; empty if there is no
  /// reason.
  package static func of(_ entry: LedgerEntry) -> String {
    guard entry.status != .accepted, let reason = entry.reason, !reason.isEmpty else { return "" }
    if RefusalRule.table[reason] != nil { return reason }
    if let status = status(reason) { return status }
    return beginnings.first { reason.hasPrefix($0.beginning) }?.word ?? "other"
  }

  /// Returns the text if it is a status such as `HTTP 418` and nothing longer.
  private static func status(_ reason: String) -> String? {
    guard reason.hasPrefix("HTTP "), let status = Int(reason.dropFirst(5)),
      (100...599).contains(status)
    else { return nil }
    return "HTTP \(status)"
  }

  /// The prefixes of the engine's own reasons, and the word for each.
  private static let beginnings: [(beginning: String, word: String)] = [
    ("PayloadTooLarge", "PayloadTooLarge"), ("BadCollapseId", "BadCollapseId"),
    ("true until", "out_of_time"), ("superseded", "superseded"),
    ("the card says it", "card_says_it"), ("heard from", "heard_from"), ("no phone of", "no_phone"),
    ("the ride has no", "no_owner"), ("the ride has another", "other_owner"),
    ("no push-to-start token", "no_start_token"), ("the push-to-start token", "no_start_token"),
    ("the phone has a card", "card_there"), ("the phone is another", "other_owner"),
    ("the phone is", "phone_disabled"), ("too many pushes to try again", "memo_full"),
    ("no bundle ID", "no_bundle_id"), ("ride not found", "ride_not_found"),
    ("the ride left", "left_states"), ("the ride is over", "ride_over"),
    ("the rule is gone", "rule_gone"), ("the card is gone", "card_gone"),
    ("no connection", "no_connection"), ("GOAWAY", "goaway"),
    ("REFUSED_STREAM", "refused_stream"), ("no free stream", "no_free_stream"),
    ("no answer in time", "no_answer"), ("connection lost", "connection_lost"),
    ("stream reset", "stream_reset"), ("the app's pushes are paused", "lane_paused"),
    ("the service stopped", "service_stopped"), ("the service ended", "service_ended"),
    ("no channel", "no_channel"), ("the rule broadcasts", "rule_broadcasts"),
    ("it had passed", "set_too_late"),
    ("too late, the next was due", "next_was_due"), ("missed:", "missed"),
    ("beyond the", "capped"), ("the card's token", "bad_token"),
    ("the phone's token", "bad_token"), ("the bundle ID", "no_bundle_id"),
    ("no card stays", "card_too_old"), ("unreadable frame", "unreadable_frame"),
    ("missing ", "missing_value"), ("empty ", "missing_value"),
    ("unreadable ", "missing_value"), ("unknown time zone", "unknown_time_zone"),
  ]
}
