// The next hour: the pushes that are sent if no ride changes.

import { byId, clock, count, element, list, rideLink, shape, typeClass, typeName } from './dom.js';

const refreshEvery = 30000;
const types = ['alert', 'background', 'liveactivity'];

export async function followTimeline() {
  if (!document.hidden) await load();
  setTimeout(followTimeline, refreshEvery);
}

async function load() {
  try {
    const answer = await fetch('timeline');
    if (!answer.ok) throw new Error(await answer.text());
    show(await answer.json());
  } catch (error) {
    byId('hour-note').textContent = `can't be computed now: ${error.message}`;
  }
}

function show(hour) {
  byId('hour-note').textContent = summary(hour);
  byId('hour-chart').replaceChildren(chart(hour));
  const heads = [{ text: 'at', whole: true }, { text: 'ride', whole: true }, { text: 'rule' }, { text: 'type' },
    { text: 'phones', number: true }];
  const rows = hour.next.map(push =>
    [clock(push.at), rideLink(push.ride), push.rule, typeName(push.type), count(push.phones)]);
  byId('hour-list').replaceChildren(
    ...(rows.length ? [list('The next pushes', heads, rows)] : []));
}

function summary(hour) {
  const parts = [`As of ${clock(hour.at)}, if no ride changes: ${count(hour.pushes)} pushes about `
    + `${count(hour.rides)} rides.`];
  if (hour.rides_cut) parts.push(`More rides are live; these are the first ${count(hour.rides)} by ID.`);
  if (hour.cut_at) parts.push(`Cut at ${clock(hour.cut_at)}: there are too many to count.`);
  if (hour.next.length >= 200) parts.push(`The list has the first ${count(hour.next.length)}.`);
  return parts.join(' ');
}

/** A bar for each minute, its types on top of each other. */
function chart(hour) {
  const height = 96;
  const sums = hour.minutes.map(minute => Object.values(minute.types).reduce((a, b) => a + b, 0));
  const most = Math.max(1, ...sums);
  const drawing = shape('svg', { viewBox: `0 0 600 ${height}`, preserveAspectRatio: 'none',
    role: 'img', 'aria-label': `Pushes in each of the next 60 minutes, at most ${most} in one` });
  for (let quarter = 0; quarter <= 4; quarter += 1) {
    drawing.append(shape('line',
      { class: 'axis', x1: 150 * quarter, x2: 150 * quarter, y1: 0, y2: height }));
  }
  for (const minute of hour.minutes) {
    let y = height;
    for (const type of types.filter(type => minute.types[type])) {
      const part = (height - 6) * minute.types[type] / most;
      y -= part;
      drawing.append(shape('rect', { class: typeClass(type), x: minute.minute * 10 + 1, y, width: 8,
        height: part }, shape('title', {}, `${clock(hour.at + minute.minute * 60)}: ${type} `
          + count(minute.types[type]))));
    }
  }
  const labels = [0, 15, 30, 45, 60].map(minutes =>
    element('span', {}, clock(hour.at + minutes * 60).slice(0, 5)));
  const present = types.filter(type => hour.minutes.some(minute => minute.types[type]));
  return element('div', {}, drawing, element('div', { class: 'labels', 'aria-hidden': 'true' }, ...labels),
    element('p', { class: 'note' }, `most in a minute: ${count(most)} `, ...present.map(typeName)));
}
