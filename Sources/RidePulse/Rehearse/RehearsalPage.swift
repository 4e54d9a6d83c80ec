import Base
import RideCore
import Timeline

/// A rehearsal as one HTML page without scripts: the pushes of the day by minute, the figures, and
/// what differs.
struct RehearsalPage {
  let report: RehearsalReport

  /// The height of a chart, in units of the picture.
  private static let height = 120.0

  var html: String {
    let header = report.header
    let body = """
      <h1>\(HTML.text(CivilTime.exact(header.from))) to \(HTML.text(CivilTime.exact(header.to)))</h1>
      <p>\(counted(report.after.rides, "ride")), \(counted(report.lines, "line")); \
      rules \(HTML.text(report.name)), \(HTML.text(report.digest))</p>
      \(charts)
      \(table)
      \(promises)
      \(report.before == nil ? "" : report.changeText.html)
      """
    return HTMLPage(title: "rehearsal", style: Self.style, body: body).text
  }

  // The charts: both have one scale, so that they can be compared.

  private var charts: String {
    let all = [report.before, report.after].compactMap(\.self)
    let most = max(1, all.flatMap(\.byMinute.values).max() ?? 1)
    var parts: [String] = []
    if let before = report.before, let name = report.otherName {
      parts.append(chart(before, name, "old", most))
    }
    parts.append(chart(report.after, report.name, "new", most))
    return parts.joined(separator: "\n")
  }

  private func chart(
    _ figures: RehearsalSummary, _ name: String, _ style: String, _ most: Int
  ) -> String {
    let first = report.header.from.epochSeconds / 60
    let minutes = max(1, (report.header.to.epochSeconds + 59) / 60 - first)
    var path = ""
    let range = first..<first + minutes
    for (minute, pushes) in figures.byMinute.sorted(by: { $0.key < $1.key })
    where range.contains(minute) {
      let height = Self.tenths(Double(pushes) / Double(most) * Self.height)
      path += "M\(minute - first) \(Int(Self.height))v-\(height)h1v\(height)z"
    }
    let title = "\(name): \(counted(figures.pushes, "push", "pushes")) by minute, at most \(most)"
    return """
      <figure><figcaption>\(HTML.text(title))</figcaption>
      <svg viewBox="0 0 \(minutes) \(Int(Self.height))" preserveAspectRatio="none" role="img" \
      aria-label="\(HTML.text(title))"><path class="\(style)" d="\(path)"/></svg></figure>
      """
  }

  /// Formats a length with one decimal, the same on every machine.
  private static func tenths(_ length: Double) -> String {
    let tenths = Int((length * 10).rounded())
    return "\(tenths / 10).\(tenths % 10)"
  }

  // The figures.

  private var table: String {
    var lines = ["<table>"]
    if let other = report.otherName {
      lines.append(
        "<tr><th></th><th>\(HTML.text(other))</th><th>\(HTML.text(report.name))</th><th>change</th></tr>"
      )
    }
    for row in report.rows {
      let isDifferent = row.before != nil && row.before != row.after
      var cells = "<th scope=\"row\">\(HTML.text(row.title))</th>"
      if let before = row.before { cells += "<td>\(HTML.text(before))</td>" }
      cells += "<td>\(HTML.text(row.after))</td>"
      if let difference = row.difference, difference != 0 {
        cells += "<td>\(difference > 0 ? "+" : "")\(difference)</td>"
      }
      lines.append("<tr\(isDifferent ? " class=\"differs\"" : "")>\(cells)</tr>")
    }
    return (lines + ["</table>"]).joined(separator: "\n")
  }

  private var promises: String {
    if report.after.breaches.isEmpty { return "<p>All promises are kept.</p>" }
    let items = report.after.breaches.map { breach in
      "<li>\(HTML.text("\(breach.promise): \(breach.count), such as \(breach.example)"))</li>"
    }
    return "<h2>Broken promises</h2>\n<ul>\(items.joined(separator: "\n"))</ul>"
  }

  private static let style = #"""

      h2 { font-size: 1.1rem; }
      h3 { font-size: 1rem; margin-bottom: .2rem; }
      figure { margin: 0 0 1rem; }
      figcaption { color: var(--dim); font-size: .85rem; }
      svg { width: 100%; height: 7.5rem; border-bottom: 1px solid var(--line); display: block; }
      .old { fill: light-dark(#8a94a3, #7b8594); }
      .new { fill: light-dark(#0a6ed1, #5aa9f5); }
      table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
      th { text-align: left; font-weight: normal; white-space: pre; }
      th, td { padding: .15rem .8rem .15rem 0; border-bottom: 1px solid var(--line); }
      .differs { font-weight: 600; }
      article p { margin: .2rem 0; color: var(--dim); }
      pre { margin: .2rem 0 .2rem 1rem; padding-left: .6rem; white-space: pre-wrap;
        overflow-wrap: anywhere; font-size: .85rem; }
      .minus { border-left: 3px solid light-dark(#c7364a, #ff8a98); }
      .plus { border-left: 3px solid light-dark(#1f7a4d, #6fd3a0); }

    """#
}
