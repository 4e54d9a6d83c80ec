// The ride above its steps: states over time, and when each phone asked for attention. It stands between
// phone.js and story.js in one script, whose names it uses.

const attentionKinds = ['rang', 'lit', 'silent'];
const stateTop = 4;
const stateHigh = 18;
const rowHigh = 15;

/** When the chart ends: with the last thing that happens to the ride, and a little more. */
function chartEnd() {
  const last = story.last_event ?? story.end;
  return Math.min(Math.max(story.end, story.start + 1), last + Math.max(30, (last - story.start) / 12));
}

/** States over time, and for each phone when it rang, lit up, received silently or was off. */
function chart(steps) {
  const wide = Math.max(280, byId('story').clientWidth);
  const from = story.start;
  const to = chartEnd();
  const x = at => 4 + (wide - 8) * Math.min(1, Math.max(0, (at - from) / (to - from)));
  const states = steps.flatMap(step => [step, ...(story.quiets[step.quiet]?.states ?? [])]).filter(step => step.state);
  const labels = stateLabels(states, x, wide);
  const rows = Math.max(0, ...labels.map(label => label.row)) + 1;
  const top = stateTop + stateHigh + rows * rowHigh + 10;
  const high = top + 40 * phoneCount + 20;
  const svg = shape('svg', { width: wide, height: high, role: 'img', 'aria-label': chartWords(states) });
  ticks(svg, from, to, x, wide, top, high);
  states.forEach((step, index) => {
    const end = x(states[index + 1]?.at ?? to);
    const box = shape('rect', { x: x(step.at), y: stateTop, width: Math.max(1, end - x(step.at)),
      height: stateHigh, class: `story-state story-state-${index % 2}` });
    box.append(shape('title', {}, `${timeOf(step.at)} ${eventWords(step.state)}`));
    svg.append(box);
  });
  for (const label of labels) {
    const y = stateTop + stateHigh + 12 + label.row * rowHigh;
    svg.append(shape('line', { x1: label.at, x2: label.at, y1: stateTop, y2: y, class: 'story-leader' }));
    svg.append(shape('text', { x: label.x, y }, label.text));
  }
  story.phones.forEach((phone, column) => lane(svg, steps, column, top + 40 * column, x, wide, to));
  return svg;
}

/**
 * Each state's name below its time, whole: in the first row in which it has room. The last states come
 * first, so that the line to a lower row crosses no name.
 */
function stateLabels(states, x, wide) {
  const starts = [];
  return states.toReversed().map(step => {
    const text = `${timeOf(step.at)} ${eventWords(step.state)}`;
    const width = text.length * 6.6 + 12;
    const at = x(step.at);
    const left = Math.max(0, at + 4 + width > wide ? at - width : at + 4);
    let row = starts.findIndex(start => left + width <= start);
    if (row < 0) row = starts.length;
    starts[row] = left;
    return { text, at, x: left, row };
  });
}

/** A line where each time is. */
function ticks(svg, from, to, x, wide, top, high) {
  const step = [60, 300, 600, 900, 1800, 3600, 7200, 14400, 43200, 86400]
    .find(one => (to - from) / one <= wide / 72) ?? 604800;
  for (let at = Math.ceil(from / step) * step; at <= to; at += step) {
    svg.append(shape('line', { x1: x(at), x2: x(at), y1: top, y2: high - 14, class: 'story-tick-line' }));
    if (x(at) > wide - 40) continue;
    svg.append(shape('text', { x: x(at), y: high - 2, class: 'story-tick' }, timeOf(at)));
  }
}

function lane(svg, steps, column, top, x, wide, to) {
  const phone = story.phones[column];
  svg.append(shape('line', { x1: 4, x2: wide - 4, y1: top + 32, y2: top + 32, class: 'story-line' }));
  let before = { rang: 0, lit: 0, silent: 0 };
  let off = null;
  for (const step of steps) {
    if (step.at > to) break;
    const screen = step.screens[column];
    if (!screen.online) off ??= step.at;
    if (off !== null && (screen.online || step === steps.at(-1))) {
      svg.append(shape('rect', { x: x(off), y: top + 28, width: Math.max(1, x(step.at) - x(off)),
        height: 6, class: 'story-away' }));
      off = null;
    }
    mark(svg, step, attentionKinds.find(name => screen.counts[name] > before[name]), x(step.at), top + 32);
    const unseen = step.rows.map(index => story.rows[index]).find(row => row.sent && !row.seen && row.app === phone.app);
    if (unseen) {
      const dot = shape('circle', { cx: x(step.at), cy: top + 32, r: 3, class: 'story-dot' });
      dot.append(shape('title', {}, `${timeOf(step.at)} ${unseen.rule}: not seen`));
      svg.append(dot);
    }
    before = screen.counts;
  }
  svg.append(shape('text', { x: 4, y: top + 12, class: 'story-lane' }, appOf(phone)));
}

/** How a phone asked for attention at a step; nothing without a kind. */
function mark(svg, step, kind, x, base) {
  if (!kind) return;
  const height = { rang: 18, lit: 12, silent: 6 }[kind];
  const bar = shape('rect', { x: x - 1.5, y: base - height, width: 3, height, class: `story-mark story-${kind}` });
  bar.append(shape('title', {}, `${timeOf(step.at)} ${kind}`));
  svg.append(bar);
}

/** What comes after the chart's end, and what still waits at the story's. */
function later(steps) {
  const to = chartEnd();
  const rows = steps.filter(step => step.at > to).flatMap(step => step.rows.map(index => story.rows[index])
    .filter(row => row.sent).map(row => `${timeOf(step.at)} ${row.rule}`));
  const waits = steps.flatMap(step => step.rows.map(index => story.rows[index]))
    .filter(row => row.due !== null && row.due >= story.end).map(row => `${timeOf(row.due)} ${row.rule}`);
  const all = [...new Set([...rows, ...waits])];
  return element('p', { class: 'story-note' }, all.length ? `After the chart: ${all.join(', ')}` : '');
}

function chartWords(states) {
  const words = states.map(step => `${eventWords(step.state)} at ${timeOf(step.at)}`);
  return `The ride: ${words.join(', ') || 'no state'}; when each phone rang, lit up or stayed silent`;
}
