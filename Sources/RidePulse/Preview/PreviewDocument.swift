import Foundation
import RideCore

/// The HTML document of a preview; everything except the data is constant.
enum PreviewDocument {
  /// Returns the whole page.
  ///
  /// - Parameter data: JSON that `Escape.jsonInHTML` has made safe.
  static func html(data: String) -> String {
    """
    <!doctype html>
    <html lang="en">
    <meta charset="utf-8">
    <meta http-equiv="Content-Security-Policy" content="\(policy)">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>RidePulse preview</title>
    <style>\(style)</style>
    <h1 id="title"></h1>
    <p class="key"></p>
    <div id="chart"></div>
    <div id="tip" role="tooltip"></div>
    <ul id="warnings"></ul>
    <script id="data" type="application/json">\(data)</script>
    <script type="module">\(script)</script>
    </html>

    """
  }

  /// The policy allows only the one style and the one script below, identified by their hashes. The
  /// data is not a script: browsers do not run `application/json`.
  private static let policy =
    "default-src 'none'; style-src 'sha256-\(hash(style))'; script-src 'sha256-\(hash(script))'; "
    + "base-uri 'none'; form-action 'none'"

  private static func hash(_ text: String) -> String {
    Data(SHA256.digest(text.utf8)).base64EncodedString()
  }

  private static let style = #"""

      :root { color-scheme: light dark; --line: #8884; --alert: #0a6ed1; --background: #7a8794;
        --liveactivity: #c05a00; }
      body { font: 14px/1.4 system-ui, sans-serif; margin: 1.5rem; }
      h1 { font-size: 1.2rem; }
      .key span { display: inline-block; margin-right: 1.2em; }
      .key i { display: inline-block; width: .8em; height: .8em; border-radius: 2px;
        margin-right: .4em; }
      svg { display: block; width: 100%; overflow: visible; }
      svg text { font: 12px system-ui, sans-serif; fill: currentColor; }
      .line { stroke: var(--line); }
      .mark { cursor: default; }
      .mark:hover, .mark:focus { stroke: currentColor; stroke-width: 2; outline: none; }
      #tip { position: fixed; display: none; max-width: 34rem; padding: .6em .8em; z-index: 1;
        white-space: pre-wrap; overflow-wrap: anywhere; background: Canvas; color: CanvasText;
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
        box.style.background = `var(--${type})`;
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
            svg.append(node('rect', { x: x(+at), y, height: part, fill: `var(--${type})`,
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
            r: Math.min(9, 4 + Math.log10(mark.n) * 2), fill: `var(--${mark.type})`,
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
