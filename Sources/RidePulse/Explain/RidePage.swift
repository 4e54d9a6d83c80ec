import Base
import Page

/// A ride's history as one HTML page that needs no server: its phones over time, and the table.
struct RidePage {
  private let report: RideReport
  private let screens: RideScreensReport

  init(_ report: RideReport, _ screens: RideScreensReport) {
    self.report = report
    self.screens = screens
  }

  var html: String {
    let body = """
      <main>
      <h1>Ride \(HTML.text(report.id))</h1>
      <section aria-labelledby="phones-title">
      <h2 id="phones-title">On the phones</h2>
      <div id="screens"><p>This part needs the page's script; the history below has everything else.</p></div>
      </section>
      <section aria-labelledby="history-title">
      <h2 id="history-title">History</h2>
      <pre tabindex="0" role="group" aria-label="as ridepulse explain prints it">\(HTML.text(lines: ExplainTable(report).text))</pre>
      </section>
      </main>
      <script id="data" type="application/json">\(Escape.jsonInHTML(screens.json.text))</script>
      """
    let page = HTMLPage(
      title: "ride",
      style: Self.style + PageFile.text(of: "phone.css") + PageFile.text(of: "screens.css"),
      script: Self.script, body: body)
    return page.text
  }

  private static let style = """

      h2 { font-size: 1.1rem; margin-top: 1.5rem; }
      h1, h2 { overflow-wrap: anywhere; }
      pre { overflow-x: auto; font: 13px/1.45 ui-monospace, "DejaVu Sans Mono", monospace; }
      @media print { pre { white-space: pre-wrap; } }

    """

  /// The files of the page at `/` draw here what they draw there.
  static let script = PageFile.text(of: "phone.js") + PageFile.text(of: "screens.js") + drawing

  private static let drawing = """

    const screens = JSON.parse(document.getElementById('data').textContent);
    document.getElementById('screens').replaceChildren(drawScreens(screens, drawPhone));

    """
}

extension HTML {
  /// Escapes a text of several lines.
  fileprivate static func text(lines: String) -> String {
    lines.split(separator: "\n", omittingEmptySubsequences: false).map { text(String($0)) }
      .joined(separator: "\n")
  }
}
