import AdminServer
import RideCore

/// The metrics of the rules in use.
enum RuleMetrics {
  static func families(_ release: RuleRelease) -> [MetricFamily] {
    var rules = MetricFamily(
      .gauge, "ridepulse_rules_info",
      "The beginning of the SHA-256 of the rule files in use; always 1.")
    rules.add(1, [.init("digest", release.revision.start)])
    var share = MetricFamily(
      .gauge, "ridepulse_rules_share_info",
      "The beginning of the second rules' digest, and the share of the rides that they decide; always 1."
    )
    if let trial = release.trial {
      share.add(
        1,
        [
          .init("digest", Revision.current(trial.rules).start), .init("share", trial.share.text),
        ])
    }
    return [
      rules,
      MetricFamily(
        .gauge, "ridepulse_rules_refused",
        "1 while rule files are refused: the rules before them, or the last good ones of the database, are in use.",
        release.refused == nil ? 0 : 1),
      share,
    ]
  }
}
