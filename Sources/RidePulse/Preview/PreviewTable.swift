import Base
import RideCore

/// Writes a preview for people: one line for what one rule sends for one ride at one time.
struct PreviewTable: PreviewWriter {
  private let output: PreviewOutput
  private let widths: (rule: Int, ride: Int, type: Int)
  private var hasHead = false

  init(_ output: PreviewOutput, rules: RuleSet, rides: [RideView]) {
    self.output = output
    widths = (
      max(4, rules.rules.map(\.name.count).max() ?? 0),
      min(36, max(4, rides.map { Escape.line($0.rideID.text).count }.max() ?? 0)),
      rules.cardApps.isEmpty ? 12 : 19
    )
  }

  mutating func write(_ group: PreviewGroup) throws {
    if !hasHead {
      try line("TIME", "RULE", "RIDE", "APP", "TYPE", "PRIO", "EXPIRES", "PHONES", "")
      hasHead = true
    }
    let push = group.first
    let zone = ZoneTimes(identifier: group.ride.timeZone)
    let expires =
      switch push.headers.expiration {
      case .neverStore: "never stored"
      case .at(let instant): StoryClock(zone: zone, start: group.at)(instant)
      }
    let type = push.entry.typeName + (push.entry.cardEvent.map { " \($0)" } ?? "")
    try line(
      CivilTime.local(group.at, zone), push.entry.rule, group.ride.id.text, push.entry.app.rawValue,
      type, String(push.headers.priority.rawValue), expires,
      group.phones, PreviewWarning.payload(push).map { "  ! \($0)" } ?? "")
  }

  private func line(
    _ time: String, _ rule: String, _ ride: String, _ app: String, _ type: String,
    _ priority: String, _ expires: String, _ phones: String, _ remark: String
  ) throws {
    func cell(_ text: String, _ width: Int) -> String {
      padded(Escape.line(text), to: width) + "  "
    }
    let cells = [
      cell(time, 26), cell(rule, widths.rule), cell(ride, widths.ride), cell(app, 8),
      cell(type, widths.type), cell(priority, 4), cell(expires, 12), phones,
    ]
    try output.write(cells.joined() + Escape.line(remark) + "\n")
  }

  mutating func end(_ summary: PreviewSummary) throws {
    var lines = hasHead ? [""] : []
    lines.append(
      "\(counted(summary.pushes, "push", "pushes")) about \(counted(summary.rides, "ride")), "
        + "\(CivilTime.iso(summary.from)) to \(CivilTime.iso(summary.to))")
    for (rule, count) in summary.byRule.sorted(by: { ($1.value, $0.key) < ($0.value, $1.key) }) {
      lines.append("  \(count)  \(Escape.line(rule))")
    }
    if let busiest = summary.busiest {
      let minute = CivilTime.iso(Timestamp(epochSeconds: busiest.minute * 60))
      lines.append("busiest minute: \(minute) with \(busiest.pushes)")
    }
    let warnings = summary.warnings
    if !warnings.isEmpty { lines.append("") }
    lines += warnings.map { "warning: \(Escape.line($0))" }
    try output.write(lines.joined(separator: "\n") + "\n")
  }
}
