import AdminServer
import RideCore

/// The metrics of the rules in use.
enum RuleMetrics {
  static func families(_ release: RuleRelease) -> [MetricFamily] {
    var share = MetricFamily(
      .gauge, "ridepulse_rules_share_info",
      "The digest of the second set of rules, and the share of the rides that it decides; always 1."
    )
    if let trial = release.trial {
      share.add(1, [.init("digest", trial.rules.digest), .init("share", trial.share.text)])
    }
    return [
      MetricFamily(
        .gauge, "ridepulse_rules_reload_failed",
        "1 while rule files are refused: the rules before them, or the last good ones of the database, are in use.",
        release.refused == nil ? 0 : 1),
      share,
    ]
  }
}
