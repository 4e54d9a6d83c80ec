/// What people notice, as a part of a page: a panel for each app, and when phones ring.
struct AttentionPanels {
  /// By app.
  let after: [String: AttentionSummary]
  /// Under the rules that are compared with; nil without them, and if their texts are not known.
  var before: [String: AttentionSummary]?
  /// What the rules are called, and those that are compared with.
  var names = (after: "", before: "")

  var html: String {
    let apps = Set(after.keys).union(before?.keys ?? [:].keys).sorted()
    let panels = apps.map(panel).joined(separator: "\n")
    let body =
      apps.isEmpty
      ? "<p>Nothing reaches a phone.</p>" : "<div class=\"panels\">\(panels)</div>"
    return """
      <section aria-labelledby="noticed">
      <h2 id="noticed">What people notice</h2>
      <p class="note">A push rings, only lights the screen up, or is silent. Of several phones of a \
      person, the loudest counts, and each is on, without a Focus. Night is \
      \(AttentionSummary.nightText) by the clock of the ride; without a ride, of the phone.</p>
      \(body)
      </section>
      """
  }

  private func panel(_ app: String) -> String {
    let (new, old) = (after[app] ?? .init(), before.map { $0[app] ?? .init() })
    let tiles = [
      tile("rang", new.rang, old?.rang), tile("lit up", new.lit, old?.lit),
      tile("at night", new.atNight, old?.atNight), tile("silent", new.silent, old?.silent),
      tile("people reached", new.people, old?.people, isNeutral: true),
    ]
    let rows = [
      FigureRow(title: "rings", before: old?.rings.text, after: new.rings.text),
      FigureRow(title: "lights up", before: old?.lights.text, after: new.lights.text),
    ]
    let table = FigureTable(
      caption: "For each person and ride: median / 99th percentile / most", rows: rows,
      names: old == nil ? nil : (names.before, names.after))
    return """
      <article class="panel" aria-label="App \(HTML.text(app))">
      <h3>\(HTML.text(app))</h3>
      <dl class="tiles">\(tiles.joined())</dl>
      \(table.html)
      \(chart(app, new, old))
      </article>
      """
  }

  private func tile(_ title: String, _ new: Int, _ old: Int?, isNeutral: Bool = false) -> String {
    var text = "<b>\(new)</b>"
    if let old, old == new { text += "<span class=\"dim\">as before</span>" }
    if let old, old != new {
      let style = isNeutral ? "dim" : new > old ? "more" : "less"
      text +=
        "<span class=\"\(style)\">\(new > old ? "+" : "")\(new - old)</span> "
        + "<span class=\"dim\">from \(old)</span>"
    }
    return "<div><dt>\(title)</dt><dd>\(text)</dd></div>"
  }

  // The hours of a day.

  private func chart(_ app: String, _ new: AttentionSummary, _ old: AttentionSummary?) -> String {
    let sums = Self.sums(new)
    let olds = old.map(Self.sums)
    let most = max(1, sums.max() ?? 1, olds?.max() ?? 1)
    var marks = ""
    for (index, count) in sums.enumerated() {
      let x = index * 10
      if let olds { marks += Self.bar("old", x + 1, 3, 0, olds[index], of: most) }
      let (left, width) = olds == nil ? (x + 1, 8) : (x + 4, 5)
      marks += Self.bar("rang", left, width, 0, new.rangByHour[index], of: most)
      marks += Self.bar("lit", left, width, new.rangByHour[index], count, of: most)
    }
    let busiest = sums.firstIndex(of: sums.max() ?? 0) ?? 0
    let label =
      "\(app): rings and lights by hour of the ride's clock; at night \(new.atNight), "
      + "at most \(sums[busiest]) from \(busiest):00"
    let key = olds == nil ? "" : " <span class=\"key old\"></span> \(HTML.text(names.before))"
    return """
      <figure><svg viewBox="0 0 240 100" preserveAspectRatio="none" role="img" \
      aria-label="\(HTML.text(label))"><path class="night" d="M0 0h70v100h-70zM220 0h20v100h-20z"/>\
      \(marks)</svg>
      <div class="axis" aria-hidden="true"><span>0:00</span><span>6:00</span><span>12:00</span>\
      <span>18:00</span><span>24:00</span></div>
      <figcaption><span class="key rang"></span> rang <span class="key lit"></span> lit up\(key), \
      by the hour on the ride; at most \(most)</figcaption></figure>
      """
  }

  private static func sums(_ summary: AttentionSummary) -> [Int] {
    zip(summary.rangByHour, summary.litByHour).map { $0 + $1 }
  }

  /// Returns a bar from one number up to another one; empty without a height.
  private static func bar(
    _ style: String, _ x: Int, _ width: Int, _ from: Int, _ to: Int, of most: Int
  ) -> String {
    let (low, high) = (from * 1000 / most, to * 1000 / most)
    if high <= low { return "" }
    let (top, height) = (1000 - high, high - low)
    return "<path class=\"\(style)\" d=\"M\(x) \(tenths(top))v\(tenths(height))h\(width)"
      + "v-\(tenths(height))z\"/>"
  }

  private static func tenths(_ number: Int) -> String { "\(number / 10).\(number % 10)" }
}
