import Base
import RideCore

/// The totals and warnings of a preview.
struct PreviewSummary {
  var from: Timestamp
  var to: Timestamp
  var rides = 0
  var pushes = 0
  var byRule: [String: Int] = [:]
  var byType: [String: Int] = [:]
  /// The number of entries that would not be sent, by rule and reason.
  var notSent: [String: [String: Int]] = [:]
  var tallies: [String: SlotTally] = [:]
  var nearLimit = 0
  private var backgroundPushes: BackgroundPushes
  /// The minute with the most pushes, in minutes since 1970.
  private(set) var busiest: (minute: Int64, pushes: Int)?
  private var minute: (minute: Int64, pushes: Int) = (0, 0)
  private(set) var notes: [String] = []
  /// Whether `--limit` ended the preview early.
  var isCut = false

  init(from: Timestamp, to: Timestamp) {
    self.from = from
    self.to = to
    backgroundPushes = BackgroundPushes(from: from)
  }

  mutating func add(_ group: PreviewGroup) {
    let entry = group.first.entry
    pushes += group.pushes.count
    byRule[entry.rule, default: 0] += group.pushes.count
    byType[entry.typeName, default: 0] += group.pushes.count
    nearLimit += group.pushes.count { PreviewWarning.payload($0) != nil }
    for push in group.pushes { backgroundPushes.add(push, at: group.at) }
    let minute = group.at.epochSeconds / 60
    self.minute = (
      minute, (self.minute.minute == minute ? self.minute.pushes : 0) + group.pushes.count
    )
    if self.minute.pushes > busiest?.pushes ?? 0 { busiest = self.minute }
  }

  mutating func add(closed entries: [LedgerEntry]) {
    for entry in entries {
      let reason = entry.reason?.text ?? entry.status.rawValue
      notSent[LedgerText.rule(entry.rule), default: [:]][reason, default: 0] += 1
    }
  }

  /// Adds the warnings about rules, and the clock changes of their zones.
  mutating func record(_ rules: RuleSet, zones: Set<String>) {
    notes += RuleLint.heartbeats(in: rules).map { "\($0.rule ?? "all rules"): \($0.text)" }
    var names = Set<String>()
    for rule in rules.rules {
      guard case .at(let timing) = rule.when, case .cron(_, let zone, _) = timing.slots else {
        continue
      }
      switch zone {
      case .named(let zone): names.insert(zone.identifier)
      case .ride: names.formUnion(zones)
      }
    }
    for name in names.sorted() {
      for change in ZoneTimes(identifier: name)?.changes(after: from, through: to) ?? [] {
        notes.append(
          "\(name): the clocks go \(change.to > change.from ? "forward" : "back") at "
            + "\(CivilTime.iso(change.at)), from \(CivilTime.offsetText(change.from)) to "
            + CivilTime.offsetText(change.to))
      }
    }
  }

  /// All warnings for a person to review.
  var warnings: [String] {
    var warnings = notes + backgroundPushes.warnings
    if nearLimit > 0 {
      warnings.append(
        "\(nearLimit) payloads have over nine tenths of the bytes that APNs takes")
    }
    for (rule, reasons) in notSent.sorted(by: { $0.key < $1.key }) {
      for (reason, count) in reasons.sorted(by: { $0.key < $1.key }) {
        warnings.append("\(rule): not sent (\(count)): \(reason)")
      }
    }
    for (rule, tally) in tallies.sorted(by: { $0.key < $1.key }) where tally.remainder != 0 {
      warnings.append("\(rule): slots do not add up, please report this: \(tally)")
    }
    if isCut { warnings.append("--limit cut the preview short") }
    return warnings
  }
}
