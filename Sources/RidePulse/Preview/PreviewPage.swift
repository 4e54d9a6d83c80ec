import Base
import RideCore

/// Writes a preview as one HTML page that needs no network.
///
/// The page is a timeline with a lane for each ride, or for each rule if there are many rides,
/// below a chart of the pushes per minute.
struct PreviewPage: PreviewWriter {
  /// Above this number of marks, the pushes of one rule within a minute share one mark.
  static let markLimit = 5_000
  static let rideLaneLimit = 60

  private let output: PreviewOutput
  private var marks: [JSONValue] = []
  private var rides: Set<RideID> = []
  /// The number of pushes by minute, rule, app and type.
  private var minutes: [Cell: Int] = [:]

  private struct Cell: Hashable {
    var minute: Int64
    var rule: String
    var app: String
    var type: String
  }

  init(_ output: PreviewOutput) {
    self.output = output
  }

  mutating func write(_ group: PreviewGroup) throws {
    let push = group.first
    let cell = Cell(
      minute: group.at.epochSeconds / 60, rule: push.entry.rule, app: push.entry.app.rawValue,
      type: push.entry.typeName)
    minutes[cell, default: 0] += group.pushes.count
    if rides.count <= Self.rideLaneLimit { rides.insert(group.ride.id) }
    guard marks.count <= Self.markLimit else { return }
    let zone = ZoneTimes(identifier: group.ride.timeZone)
    marks.append(
      .object([
        "at": .integer(group.at.epochSeconds), "rule": .string(cell.rule),
        "ride": .string(group.ride.id.text), "app": .string(cell.app), "type": .string(cell.type),
        "n": .integer(Int64(group.pushes.count)),
        "text": .string(
          [
            "\(push.entry.rule), ride \(group.ride.id)", CivilTime.local(group.at, zone),
            "\(cell.app), \(cell.type), priority \(push.headers.priority.rawValue), "
              + "\(Self.phones(group)), \(push.payload.count) bytes",
            Self.validity(push.headers.expiration, zone),
            String(decoding: push.payload, as: UTF8.self),
          ].joined(separator: "\n")),
      ]))
  }

  private static func phones(_ group: PreviewGroup) -> String {
    "\(group.phones) \(group.pushes.count == 1 ? "phone" : "phones")"
  }

  private static func validity(_ expiration: PushExpiration, _ zone: ZoneTimes?) -> String {
    switch expiration {
    case .neverStore: "never stored"
    case .at(let instant): "valid until \(CivilTime.local(instant, zone))"
    }
  }

  mutating func end(_ summary: PreviewSummary) throws {
    let isWhole = marks.count <= Self.markLimit
    let lanes = isWhole && rides.count <= Self.rideLaneLimit ? "ride" : "rule"
    let cells = minutes.sorted {
      ($0.key.minute, $0.key.rule, $0.key.app) < ($1.key.minute, $1.key.rule, $1.key.app)
    }.map { cell, count -> JSONValue in
      .object([
        "at": .integer(cell.minute * 60), "rule": .string(cell.rule), "app": .string(cell.app),
        "type": .string(cell.type), "n": .integer(Int64(count)),
        "text": .string(
          "\(cell.rule)\n\(CivilTime.iso(Timestamp(epochSeconds: cell.minute * 60)))\n\(count) pushes "
            + "in this minute"),
      ])
    }
    let data = JSONValue.object([
      "from": .integer(summary.from.epochSeconds), "to": .integer(summary.to.epochSeconds),
      "lanes": .string(lanes), "marks": .array(isWhole ? marks : cells), "minutes": .array(cells),
      "title": .string(
        "\(counted(summary.pushes, "push", "pushes")) about \(counted(summary.rides, "ride")), "
          + "\(CivilTime.iso(summary.from)) to \(CivilTime.iso(summary.to))"),
      "warnings": .array(summary.warnings.map { .string($0) }),
    ])
    let json = Escape.jsonInHTML(data.text)
    try output.write(PreviewDocument.html(data: json))
  }
}

/// The HTML document of a preview; everything except the data is constant.
enum PreviewDocument {
  /// Returns the whole page.
  ///
  /// - Parameter data: JSON that `Escape.jsonInHTML` has made safe. It is not a script: browsers do not
  ///   run `application/json`.
  static func html(data: String) -> String {
    let body = """
      <h1 id="title"></h1>
      <p class="key"></p>
      <div id="chart"></div>
      <div id="tip" role="tooltip"></div>
      <ul id="warnings"></ul>
      <script id="data" type="application/json">\(data)</script>
      """
    return HTMLPage(title: "preview", style: style, script: script, body: body).text
  }

  private static let style = #"""

      :root { --alert: #0a6ed1; --background: #7a8794; --liveactivity: #c05a00; --other: #8a5fb0; }
      body { max-width: none; }
      .key span { display: inline-block; margin-right: 1.2em; }
      .key i { display: inline-block; width: .8em; height: .8em; border-radius: 2px;
        margin-right: .4em; }
      svg { display: block; width: 100%; overflow: visible; }
      svg text { font: 12px system-ui, sans-serif; fill: currentColor; }
      .line { stroke: var(--line); }
      .mark { cursor: default; }
      .mark:hover, .mark:focus { stroke: currentColor; stroke-width: 2; outline: none; }
      #tip { position: fixed; display: none; max-width: 34rem; padding: .6em .8em; z-index: 1;
        white-space: pre-wrap; overflow-wrap: anywhere; background: var(--page); color: var(--ink);
        border: 1px solid var(--line); border-radius: 6px; box-shadow: 0 4px 16px #0003; }
      li { margin: .2em 0; }

    """#

  private static let script = #"""

      const data = JSON.parse(document.getElementById('data').textContent);
      const tip = document.getElementById('tip');
      const chart = document.getElementById('chart');
      document.getElementById('title').textContent = data.title;
      for (const text of data.warnings) {
        const item = document.createElement('li');
        item.textContent = text;
        document.getElementById('warnings').append(item);
      }
      const types = [...new Set(data.marks.map(mark => mark.type))].sort();
      for (const type of types) {
        const item = document.createElement('span');
        const box = document.createElement('i');
        box.style.background = `var(--${type}, var(--other))`;
        item.append(box, type);
        document.querySelector('.key').append(item);
      }
      const names = [...new Set(data.marks.map(mark => mark[data.lanes]))].sort();
      const left = Math.min(260, 20 + 7 * Math.max(4, ...names.map(name => name.length)));
      const top = 90, height = 22;
      const node = (name, attributes, text) => {
        const element = document.createElementNS('http://www.w3.org/2000/svg', name);
        for (const key in attributes) element.setAttribute(key, attributes[key]);
        if (text !== undefined) element.textContent = text;
        return element;
      };
      const show = (event, text) => {
        tip.textContent = text;
        tip.style.display = 'block';
        const box = event.target.getBoundingClientRect();
        tip.style.left = Math.max(8, Math.min(box.left, innerWidth - tip.offsetWidth - 8)) + 'px';
        const below = box.bottom + 8;
        const fits = below + tip.offsetHeight < innerHeight;
        tip.style.top = (fits ? below : Math.max(8, box.top - tip.offsetHeight - 8)) + 'px';
      };
      const hide = () => { tip.style.display = 'none'; };
      const clock = at => new Date(at * 1000).toISOString().slice(11, 16);
      function draw() {
        const width = Math.max(320, chart.clientWidth);
        const x = at => left + (width - left - 10) * (at - data.from) / (data.to - data.from);
        const svg = node('svg', { height: top + height * names.length + 30 });
        const sums = {};
        for (const cell of data.minutes) {
          const sum = sums[cell.at] ??= { n: 0 };
          sum.n += cell.n;
          sum[cell.type] = (sum[cell.type] ?? 0) + cell.n;
        }
        const most = Math.max(1, ...Object.values(sums).map(sum => sum.n));
        svg.append(node('text', { x: 0, y: 22 }, `${most} a minute`));
        for (const at in sums) {
          let y = top - 20;
          for (const type of types) {
            const part = 55 * (sums[at][type] ?? 0) / most;
            y -= part;
            svg.append(node('rect', { x: x(+at), y, height: part, fill: `var(--${type}, var(--other))`,
              width: Math.max(1.5, x(+at + 60) - x(+at) - 1) }));
          }
        }
        const steps = [60, 300, 600, 900, 1800, 3600, 7200, 14400, 21600, 43200, 86400, 604800];
        const step = steps.find(step => (data.to - data.from) / step <= width / 90) ?? 2592000;
        for (let at = Math.ceil(data.from / step) * step; at <= data.to; at += step) {
          svg.append(node('line', { class: 'line', x1: x(at), x2: x(at), y1: top - 18,
            y2: top + height * names.length }));
          const text = step >= 86400 ? new Date(at * 1000).toISOString().slice(5, 10) : clock(at);
          svg.append(node('text', { x: x(at), y: top + height * names.length + 18,
            'text-anchor': 'middle' }, text));
        }
        names.forEach((name, index) => {
          const y = top + height * index + height / 2;
          svg.append(node('line', { class: 'line', x1: left, x2: width - 10, y1: y, y2: y }));
          svg.append(node('text', { x: 0, y: y + 4 }, name.length > 34 ? name.slice(0, 33) + '…' : name));
        });
        for (const mark of data.marks) {
          const y = top + height * names.indexOf(mark[data.lanes]) + height / 2;
          const dot = node('circle', { class: 'mark', cx: x(mark.at), cy: y, tabindex: 0,
            r: Math.min(9, 4 + Math.log10(mark.n) * 2), fill: `var(--${mark.type}, var(--other))`,
            'aria-label': mark.text });
          for (const name of ['mouseenter', 'focus']) {
            dot.addEventListener(name, event => show(event, mark.text));
          }
          for (const name of ['mouseleave', 'blur']) dot.addEventListener(name, hide);
          svg.append(dot);
        }
        svg.append(node('text', { x: 0, y: top + height * names.length + 18 }, 'UTC'));
        chart.replaceChildren(svg);
      }
      draw();
      addEventListener('resize', draw);

    """#
}
