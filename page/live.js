// The live state: draws one message of the stream.

import { byId, count, element, setText, shape, span, table, typeName } from './dom.js';

/** Rates of the last minutes, a point each second. */
const rates = [];
const rateLimit = 180;

export function showLive(message) {
  const rides = message.rides;
  showCell(message.cell);
  setText(byId('ready'), message.ready ? 'ready' : 'not ready');
  byId('ready').dataset.kind = message.ready ? 'good' : 'bad';
  showTroubles(message);
  if (rides) showRides(rides);
  showFigures(message);
  showTypes(message);
  showLanes(message);
  showVerdicts(message);
  setText(byId('about'), `RidePulse ${message.version}, node ${message.node}`);
}

/** Shows which of several cells the page is about. */
function showCell(cell) {
  if (!cell) return;
  setText(byId('cell'), cell);
  if (document.title !== `${cell}: RidePulse`) document.title = `${cell}: RidePulse`;
}

function showTroubles(message) {
  const problems = [...message.problems];
  if (message.database === false) problems.push('the database does not answer this page');
  if (!message.listen) {
    problems.push("Postgres' notifications do not arrive: events wait for the next poll");
  }
  for (const lane of message.lanes.filter(lane => lane.paused)) {
    const service = lane.environment === 'android' ? 'FCM' : 'APNs';
    problems.push(`pushes to ${lane.app} (${lane.environment}) are paused: `
      + (lane.cause === 'unreachable' ? `${service} can't be reached` : `${service} refuses them`));
  }
  for (const pause of message.pauses ?? []) problems.push(`paused: ${pause}`);
  const list = byId('problems');
  // A screen reader announces changes only, not each second.
  if (list.dataset.text === problems.join('\n')) return;
  list.dataset.text = problems.join('\n');
  list.replaceChildren(...problems.map(text => element('li', {}, text)));
}

function showRides(rides) {
  setText(byId('live-rides'), count(rides.live));
  setText(byId('due'), (rides.due_cut ? 'over ' : '') + count(rides.due));
  setText(byId('oldest'), rides.oldest_due_s > 0 ? span(rides.oldest_due_s * 1000) : 'none');
  setText(byId('parked'), count(rides.parked));
  const most = Math.max(1, ...rides.states.map(row => row.n));
  const rows = rides.states.map(row => [row.state || '(no state)', bar(row.n, most), count(row.n)]);
  if (rides.other_states > 0) rows.push(['(other states)', '', count(rides.other_states)]);
  const heads = [{ text: 'state' }, { text: 'share' }, { text: 'rides', number: true }];
  const shown = rows.length
    ? [table('Rides by state', heads, rows)] : [element('p', { class: 'note' }, 'no ride is live')];
  if (rides.cut) {
    shown.push(element('p', { class: 'note' }, 'Counted over the first 20,000 rides of the agenda.'));
  }
  byId('states').replaceChildren(...shown);
}

function bar(value, most) {
  const drawing = shape('svg', { class: 'bar', viewBox: '0 0 100 8', preserveAspectRatio: 'none',
    'aria-hidden': 'true' });
  drawing.append(shape('rect', { width: Math.max(1, 100 * value / most), height: 8 }));
  return drawing;
}

/** A count of the window per minute; null for the first five seconds, which are not representative. */
function rate(n, message) {
  return message.window_s < 5 ? null : n * 60 / message.window_s;
}

function rateText(n, message) {
  const number = rate(n, message);
  return number === null ? '–' : count(Math.round(number));
}

function showFigures(message) {
  setText(byId('rate'), rateText(message.all.n, message));
  setText(byId('p50'), span(message.all.p50_ms));
  setText(byId('p99'), span(message.all.p99_ms));
  const sum = name => message.apns.reduce((total, one) => total + one[name], 0);
  setText(byId('connections'), count(sum('open')));
  setText(byId('flight'), `${count(sum('in_flight'))}, ${count(sum('queued'))}`);
  const window = Math.round(message.window_s);
  setText(byId('window'), window >= 58
    ? 'Rates and latencies are of the last minute; latency is from commit to APNs\u2019 answer.'
    : `Rates and latencies are of the ${window} s since this page was opened.`);
  const number = rate(message.all.n, message);
  if (number !== null) rates.push(number);
  if (rates.length > rateLimit) rates.shift();
  drawRates();
}

function drawRates() {
  const most = Math.max(10, ...rates);
  const points = rates.map((value, index) =>
    `${(600 * (index + rateLimit - rates.length) / (rateLimit - 1)).toFixed(1)},`
    + `${(46 - 42 * value / most).toFixed(1)}`);
  const drawing = shape('svg', { viewBox: '0 0 600 48', preserveAspectRatio: 'none', role: 'img',
    'aria-label': `Pushes a minute over the last three minutes, at most ${Math.round(most)}` });
  drawing.append(shape('line', { class: 'axis', x1: 0, x2: 600, y1: 46.5, y2: 46.5 }));
  if (points.length > 1) {
    drawing.append(shape('polyline', { class: 'curve', points: points.join(' ') }));
  }
  byId('rate-chart').replaceChildren(drawing);
}

function showTypes(message) {
  const heads = [{ text: 'type' }, { text: 'a minute', number: true },
    { text: 'half within', number: true }, { text: '99 % within', number: true }];
  const rows = message.pushes.map(row =>
    [typeName(row.type), rateText(row.n, message), span(row.p50_ms), span(row.p99_ms)]);
  byId('types').replaceChildren(rows.length
    ? table('Pushes a minute by type', heads, rows)
    : element('p', { class: 'note' }, 'none since the start'));
}

function showLanes(message) {
  const items = message.lanes.map(lane => element('li', {},
    element('span', { class: 'badge', 'data-kind': lane.paused ? 'bad' : 'good' },
      lane.paused ? 'paused' : 'open'),
    ` ${lane.app}, ${lane.environment}`));
  byId('lanes').replaceChildren(...(items.length
    ? items : [element('li', { class: 'note' }, 'no push was sent yet')]));
}

function showVerdicts(message) {
  const heads = [{ text: 'verdict' }, { text: 'app' },
    { text: `last ${Math.min(60, Math.round(message.window_s))}\u00a0s`, number: true },
    { text: 'since start', number: true }];
  const rows = message.verdicts.map(row => [
    element('span', {}, element('b', { 'data-status': row.status }, row.status),
      row.reason ? ` ${row.reason}` : ''),
    row.app, count(row.n), count(row.total)]);
  byId('verdicts').replaceChildren(rows.length
    ? table('Verdicts by reason', heads, rows) : element('p', { class: 'note' }, 'none yet'));
}
