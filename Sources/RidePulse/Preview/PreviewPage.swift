import Base
import RideCore
import Timeline

/// Writes a preview as one HTML page without scripts, which needs no network: what people notice, the
/// alerts of each ride, all else folded, and what is sent.
struct PreviewPage: PreviewWriter {
  /// Above these numbers, pushes are counted by rule and not listed.
  static let momentLimit = 5_000
  static let rideLimit = 60

  private let output: PreviewOutput
  private var moments: [PreviewMoment] = []
  private var isListed = true
  private var ridesInOrder: [RideID] = []
  private var attention: [RideID: RideAttention] = [:]
  private var byMinute: [Int64: Int] = [:]
  private var rules: [RuleKey: RuleCount] = [:]

  private struct RuleKey: Hashable, Comparable {
    var type: String
    var rule: String

    static func < (left: RuleKey, right: RuleKey) -> Bool {
      (left.type, left.rule) < (right.type, right.rule)
    }
  }

  private struct RuleCount {
    var pushes = 0
    var first: Timestamp
    var last: Timestamp
  }

  init(_ output: PreviewOutput) {
    self.output = output
  }

  mutating func write(_ group: PreviewGroup) throws {
    let entry = group.first.entry
    byMinute[group.at.epochSeconds / 60, default: 0] += group.pushes.count
    let key = RuleKey(type: entry.typeName, rule: entry.rule)
    rules[key, default: RuleCount(first: group.at, last: group.at)].pushes += group.pushes.count
    rules[key]?.last = group.at
    guard isListed else { return }
    if attention[group.ride.id] == nil {
      ridesInOrder.append(group.ride.id)
      attention[group.ride.id] = RideAttention()
    }
    moments.append(PreviewMoment(group))
    if moments.count > Self.momentLimit || ridesInOrder.count > Self.rideLimit {
      isListed = false
      (moments, ridesInOrder) = ([], [])
    }
  }

  mutating func observe(_ pass: Pass) {
    let departures = pass.departures
    if departures.isEmpty { return }
    attention[pass.ride, default: RideAttention()].add(departures, in: pass.decision.view)
  }

  mutating func end(_ summary: PreviewSummary) throws {
    var figures: [App: AttentionFigures] = [:]
    for ride in attention.values { AttentionFigures.add(ride, to: &figures) }
    let panels = AttentionPanels(after: AttentionSummary.byApp(figures))
    let body = """
      <main>
      <h1>\(CivilTime.iso(summary.from)) to \(CivilTime.iso(summary.to))</h1>
      <p>\(counted(summary.pushes, "push", "pushes")) about \(counted(summary.rides, "ride"))</p>
      \(warnings(summary))
      \(panels.html)
      \(isListed ? list : tooMany)
      \(sent(summary))
      </main>
      """
    try output.write(HTMLPage(title: "preview", style: ReportStyle.css, body: body).text)
  }

  private func warnings(_ summary: PreviewSummary) -> String {
    let warnings = summary.warnings
    if warnings.isEmpty { return "" }
    let items = warnings.map { "<li>\(HTML.text($0))</li>" }.joined(separator: "\n")
    return """
      <section aria-labelledby="warnings"><h2 id="warnings">Warnings</h2>
      <ul>\(items)</ul></section>
      """
  }

  // The pushes of each ride.

  private var list: String {
    let rides = ridesInOrder.map { id in
      section(id, moments.filter { $0.ride == id })
    }
    return """
      <section aria-labelledby="rides"><h2 id="rides">The rides</h2>
      <p class="note">Times are of the clock on the ride.</p>
      \(rides.joined(separator: "\n"))
      </section>
      """
  }

  private func section(_ ride: RideID, _ moments: [PreviewMoment]) -> String {
    let (alerts, others) = (moments.filter(\.isAlert), moments.filter { !$0.isAlert })
    guard let start = moments.first else { return "" }
    func items(_ moments: [PreviewMoment]) -> String {
      let lines = moments.map { $0.html(nextTo: start.at) }
      return "<ol role=\"list\" class=\"moments\">\(lines.joined(separator: "\n"))</ol>"
    }
    let date = CivilTime.local(start.at, start.zone)
    let folded =
      others.isEmpty
      ? ""
      : "<details><summary>\(counted(others.count, "push", "pushes")) without an alert: cards and "
        + "what only wakes an app</summary>\n\(items(others))</details>"
    return """
      <article class="panel"><h3>Ride <bdi class="ride">\(HTML.text(ride.text))</bdi></h3>
      <p class="note">from \(date)</p>
      \(alerts.isEmpty ? "<p>No alert.</p>" : items(alerts))
      \(folded)</article>
      """
  }

  private var tooMany: String {
    """
    <section aria-labelledby="rides"><h2 id="rides">The rides</h2>
    <p>They are too many to list each push: choose one with --ride or --rule, or a shorter time with \
    --for.</p></section>
    """
  }

  // What the service sends.

  private func sent(_ summary: PreviewSummary) -> String {
    let first = summary.from.epochSeconds / 60
    let end = max(first + 1, (summary.to.epochSeconds + 59) / 60)
    let most = byMinute.values.max() ?? 0
    let chart = MinuteChart(minutes: first..<end, most: most).html(
      byMinute, title: "Pushes by minute, at most \(most)", style: "rang")
    var rows = [FigureRow(title: "pushes", after: "\(summary.pushes)")]
    for (type, count) in summary.byType.sorted(by: { $0.key < $1.key }) {
      rows.append(FigureRow(title: "  \(type)", after: "\(count)"))
      for (key, rule) in rules.sorted(by: { $0.key < $1.key }) where key.type == type {
        let time = "\(CivilTime.iso(rule.first)) to \(CivilTime.iso(rule.last))"
        rows.append(FigureRow(title: "    \(key.rule)", after: "\(rule.pushes), \(time)"))
      }
    }
    if let busiest = summary.busiest {
      let minute = CivilTime.iso(Timestamp(epochSeconds: busiest.minute * 60))
      rows.append(FigureRow(title: "busiest minute", after: "\(busiest.pushes) at \(minute)"))
    }
    let table = FigureTable(caption: "Pushes by type and rule", rows: rows)
    return """
      <section aria-labelledby="sent"><h2 id="sent">What is sent</h2>
      \(chart)
      \(table.html)
      </section>
      """
  }
}
