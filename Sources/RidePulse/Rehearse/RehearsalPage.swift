import Base
import RideCore
import Timeline

/// A rehearsal as one HTML page without scripts: what people notice, what differs, and what is sent.
struct RehearsalPage {
  let report: RehearsalReport

  var html: String {
    let header = report.header
    let other = report.otherName.map { ", next to \(HTML.text($0))" } ?? ""
    let body = """
      <main>
      <h1>\(HTML.text(CivilTime.exact(header.from))) to \(HTML.text(CivilTime.exact(header.to)))</h1>
      <p>\(counted(report.after.rides, "ride")) by the rules \(HTML.text(report.name))\(other)</p>
      \(failures)
      \(panels)
      \(limits)
      \(report.before == nil ? "" : changes)
      \(sent)
      </main>
      """
    return HTMLPage(title: "rehearsal", style: ReportStyle.css, body: body).text
  }

  private var failures: String {
    if report.failures.isEmpty { return "" }
    let words = report.failures.map { "\($0.word.rawValue) (\($0.count))" }
    return "<p role=\"status\"><strong>Failed: \(words.joined(separator: ", "))</strong></p>"
  }

  private var panels: String {
    // What was recorded has no texts.
    let before = report.before.flatMap { $0.attention.isEmpty ? nil : $0.attention }
    return AttentionPanels(
      after: report.after.attention, before: before,
      names: (report.name, report.otherName ?? "")
    ).html
  }

  private var changes: String {
    ChangeSections(text: report.changeText, types: report.types).html
  }

  // What phones may never show.

  private var limits: String {
    let text = report.limitText
    if text.limits.isEmpty { return "" }
    let parts = text.groups.map { limit, group in
      let title = HTML.text(text.title(limit, group))
      if group.examples.isEmpty { return "<p>\(title)</p>" }
      let examples = group.examples.map { example in
        "<article><p>\(HTML.text(LimitText.title(example)))</p>"
          + "<pre>\(example.screen.map(HTML.text).joined(separator: "\n"))</pre></article>"
      }
      return "<details open><summary>\(title)</summary>\n"
        + examples.joined(separator: "\n") + "</details>"
    }
    return """
      <section aria-labelledby="limits">
      <h2 id="limits">What phones may never show</h2>
      \(parts.joined(separator: "\n"))
      </section>
      """
  }

  // What the service sends.

  private var sent: String {
    let header = report.header
    let names = report.otherName.map { (before: $0, after: report.name) }
    let table = FigureTable(
      caption: "Pushes that APNs and FCM accepted", rows: report.rows, names: names)
    return """
      <section aria-labelledby="sent">
      <h2 id="sent">What is sent</h2>
      <p class="note">\(counted(report.lines, "line")) of the day \
      \(HTML.text(CivilTime.exact(header.from))) to \(HTML.text(CivilTime.exact(header.to))); rules \
      \(HTML.text(report.digest))</p>
      \(charts)
      \(promises)
      \(table.html)
      </section>
      """
  }

  private var charts: String {
    let header = report.header
    let first = header.from.epochSeconds / 60
    let end = max(first + 1, (header.to.epochSeconds + 59) / 60)
    let all = [report.before, report.after].compactMap(\.self)
    let most = max(1, all.flatMap(\.byMinute.values).max() ?? 1)
    let chart = MinuteChart(minutes: first..<end, most: most)
    func html(_ figures: RehearsalSummary, _ name: String, _ style: String) -> String {
      let pushes = counted(figures.pushes, "push", "pushes")
      return chart.html(
        figures.byMinute, title: "\(name): \(pushes) by minute, at most \(most)", style: style)
    }
    var parts: [String] = []
    if let before = report.before, let name = report.otherName {
      parts.append(html(before, name, "old"))
    }
    parts.append(html(report.after, report.name, "rang"))
    return parts.joined(separator: "\n")
  }

  private var promises: String {
    if report.after.breaches.isEmpty { return "<p>All promises are kept.</p>" }
    let items = report.after.breaches.map { breach in
      "<li>\(HTML.text("\(breach.promise): \(breach.count), such as \(breach.example)"))</li>"
    }
    return "<h3>Broken promises</h3>\n<ul>\(items.joined(separator: "\n"))</ul>"
  }
}
