import Base
import PostgresStore
import RideCore
import Timeline

/// Formats a comparison of two senders for people.
struct CompareTable {
  let report: CompareReport

  /// The most examples of each part.
  private static let examples = 10

  var text: String {
    let parts = [
      heading, table, onlyOld, onlyNew, texts, differences, failures,
    ].filter { !$0.isEmpty }
    return parts.joined(separator: [""]).map { Escape.line($0) }.joined(separator: "\n")
  }

  private var heading: [String] {
    let range = report.range
    let inRange = report.old.count { range.contains($0.at) }
    let repeats =
      report.repeats == 0 ? "" : ", \(counted(report.repeats, "line")) of further phones left out"
    let shown = report.new.count { $0.isShown && range.contains($0.at) }
    var lines = [
      "time   \(CivilTime.exact(range.lowerBound)) to \(CivilTime.exact(range.upperBound))",
      "old    \(report.options.path), \(counted(inRange, "push", "pushes"))\(repeats)",
      "new    the ledger of \(Database.schema), \(counted(shown, "push", "pushes"))",
    ]
    if !report.idleRules.isEmpty {
      lines.append(
        "       no decision in this time by \(report.idleRules.joined(separator: ", ")) of --kind")
    }
    if !report.unmatchedKinds.isEmpty {
      lines.append(
        "       no rule or event in this time is called "
          + "\(report.unmatchedKinds.joined(separator: ", ")): name the rule with --kind")
    }
    return lines
  }

  private var table: [String] {
    let rows =
      report.counts.sorted { $0.key < $1.key }.map { row($0.key, $0.value) }
      + [row("all", report.total)]
    let cells =
      [["KIND", "BOTH", "ONLY OLD", "UNDECIDED", "ONLY NEW", "TEXT SAME", "TEXT DIFFERS"]] + rows
    let widths = cells[0].indices.map { column in cells.map { $0[column].count }.max() ?? 0 }
    return cells.map { cells in
      zip(cells, widths).enumerated().map { column, cell in
        column == 0
          ? padded(cell.0, to: cell.1)
          : String(repeating: " ", count: max(0, cell.1 - cell.0.count)) + cell.0
      }.joined(separator: "  ")
    }
  }

  private func row(_ name: String, _ counts: CompareReport.Counts) -> [String] {
    [name]
      + [
        counts.both, counts.onlyOld, counts.undecided, counts.onlyNew, counts.sameTexts,
        counts.otherTexts,
      ].map(String.init)
  }

  private var onlyOld: [String] {
    let decided = report.comparison.notSent.map { pair in
      (report.old[pair.old], report.new[pair.new])
    }
    let lines =
      decided.map { old, new in
        "\(line(old)): \(reason(new)), rule \(new.rule), ride \(new.ride)"
      } + report.comparison.undecided.map { "\(line(report.old[$0])): undecided" }
    return part("only old", lines)
  }

  private var onlyNew: [String] {
    part(
      "only new",
      report.comparison.onlyNew.map { index in
        let push = report.new[index]
        return "\(CivilTime.milliseconds(push.at))  \(push.rule) to \(push.app) \(push.person), "
          + "ride \(push.ride), \(push.event)"
      })
  }

  private var texts: [String] {
    let total = report.total
    let compared = total.sameTexts + total.otherTexts
    let unknown = report.unknownTexts
    if compared == 0, unknown.isEmpty { return [] }
    var lines = ["texts: \(total.sameTexts) the same, \(total.otherTexts) different"]
    lines += unknown.map { "  \($0.count) unknown: \($0.cause.explanation)" }
    let different = zip(report.comparison.both, report.texts).compactMap { pair, text in
      if case .differs(let new) = text { (report.old[pair.old], new) } else { nil }
    }
    for (old, new) in different.prefix(Self.examples) {
      lines += ["  \(line(old))", "    old  \(old.text ?? "")", "    new  \(new)"]
    }
    return lines + more(than: different.count)
  }

  private var differences: [String] {
    let percentiles = report.percentiles
    if percentiles.isEmpty { return [] }
    let texts = percentiles.map { "\($0.name) \($0.milliseconds) ms" }
    return ["from the old sender to RidePulse: " + texts.joined(separator: ", ")]
  }

  private var failures: [String] {
    let words = report.failures.map { "\($0.word.rawValue) (\($0.count))" }
    return words.isEmpty ? [] : ["failed: " + words.joined(separator: ", ")]
  }

  private func part(_ name: String, _ lines: [String]) -> [String] {
    if lines.isEmpty { return [] }
    return [name] + lines.prefix(Self.examples).map { "  " + $0 } + more(than: lines.count)
  }

  private func more(than count: Int) -> [String] {
    count > Self.examples ? ["  and \(count - Self.examples) more; --format json has all"] : []
  }

  private func line(_ push: OldPush) -> String {
    "\(CivilTime.milliseconds(push.at))  \(push.kind) to \(push.person), line \(push.line)"
  }

  private func reason(_ push: NewPush) -> String {
    guard case .notSent(let status, let code) = push.outcome else { return "sent" }
    return code.map { "\(status), \($0)" } ?? status
  }
}
