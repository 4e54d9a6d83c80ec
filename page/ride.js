// A ride's history: the JSON of `ridepulse explain RIDE --format json`.

import { byId, element, moment, span, table, typeName } from './dom.js';

const addressOf = id => `/ride?id=${encodeURIComponent(id)}`;
let shown = '';

/** The fragment of the address selects the ride, so that going back works. */
export function followAddress() {
  addEventListener('hashchange', open);
  byId('search').addEventListener('submit', event => {
    event.preventDefault();
    const id = byId('ride-id').value.trim();
    if (!id) return;
    const address = `#ride=${encodeURIComponent(id)}`;
    if (location.hash === address) open(); else location.hash = address;
  });
  byId('ride-again').addEventListener('click', open);
  byId('ride-close').addEventListener('click', close);
  addEventListener('keydown', event => {
    const isTyping = event.target instanceof HTMLInputElement;
    if (event.key === '/' && !isTyping && !event.ctrlKey && !event.metaKey && !event.altKey) {
      event.preventDefault();
      byId('ride-id').focus();
      byId('ride-id').select();
    }
    if (event.key === 'Escape' && shown) close();
  });
  if (location.hash) open();
}

function close() {
  shown = '';
  byId('ride').hidden = true;
  if (location.hash) history.pushState(null, '', location.pathname);
  byId('ride-id').focus();
}

function idOfAddress() {
  if (!location.hash.startsWith('#ride=')) return '';
  try {
    return decodeURIComponent(location.hash.slice('#ride='.length));
  } catch {
    return location.hash.slice('#ride='.length);
  }
}

async function open() {
  // Another fragment, such as `#main`, does not change the ride.
  if (location.hash && !location.hash.startsWith('#ride=')) return;
  const id = idOfAddress();
  shown = id;
  byId('ride').hidden = !id;
  if (!id) return;
  byId('ride-id').value = id;
  byId('ride-title').textContent = `Ride ${id}`;
  byId('ride-history').replaceChildren(element('p', { class: 'note' }, 'loading …'));
  byId('ride-title').focus();
  const nodes = await load(id);
  // Another ride may have been selected in the meantime.
  if (shown === id) byId('ride-history').replaceChildren(...nodes);
}

/** Asks for the service's token once, if it has one, and keeps it in this tab. */
async function ask(address) {
  const given = () => sessionStorage.getItem('token');
  const fetched = () =>
    fetch(address, given() ? { headers: { Authorization: `Bearer ${given()}` } } : {});
  const answer = await fetched();
  if (answer.status !== 401) return answer;
  const token = prompt('RIDEPULSE_ADMIN_TOKEN of this service');
  if (!token) return answer;
  sessionStorage.setItem('token', token);
  return fetched();
}

async function load(id) {
  try {
    const answer = await ask(addressOf(id));
    if (answer.status === 404) return [element('p', {}, 'Nothing is recorded about a ride with this ID.')];
    if (!answer.ok) throw new Error(await answer.text());
    return parts(await answer.json());
  } catch (error) {
    return [element('p', {}, `The history can't be loaded now: ${error.message}`)];
  }
}

function parts(report) {
  return [facts(report), ...timeline(report), ...cards(report)];
}

function facts(report) {
  const { ride, agenda } = report;
  const rows = [];
  if (!ride) rows.push(['row', 'gone from ridepulse.rides']);
  else {
    rows.push(['state', ride.state ?? 'none'], ['customer', ride.customer_id],
      ['driver', ride.driver_id], ['pickup', ride.pickup_at && moment(ride.pickup_at)],
      ['time zone', ride.time_zone], ['changed', ride.updated_at && moment(ride.updated_at)]);
    for (const [key, value] of Object.entries(ride.attributes ?? {})) {
      rows.push([key, typeof value === 'string' ? value : JSON.stringify(value)]);
    }
  }
  rows.push(['next due', !agenda ? 'not on the agenda'
    : agenda.parked_reason ? `parked: ${agenda.parked_reason}`
      : agenda.due_at ? moment(agenda.due_at) : 'with its next event']);
  rows.push(['as of', moment(report.now)]);
  return element('dl', { class: 'facts' }, ...rows
    .filter(([, value]) => value !== null && value !== undefined && value !== '')
    .map(([name, value]) => element('div', {}, element('dt', {}, name), element('dd', {}, value))));
}

function timeline(report) {
  if (!report.timeline.length) return [element('p', {}, 'No rule has fired for it.')];
  const items = report.timeline.map(entry => element('li', {},
    element('h3', {}, element('time', { datetime: entry.at }, moment(entry.at)), ` ${entry.event}`),
    entry.handled ? null : element('p', { class: 'note' }, 'not handled yet'),
    element('ul', {}, ...entry.decisions.map(decision))));
  return [element('ol', { class: 'timeline' }, ...items)];
}

function decision(one) {
  const more = [];
  if (one.status === 'accepted' && one.latency_ms !== null) more.push(`after ${span(one.latency_ms)}`);
  if (one.attempts > 1) more.push(`${one.attempts} attempts`);
  if (one.token_suffix) more.push(`phone …${one.token_suffix}`);
  if (one.priority !== null) more.push(`priority ${one.priority}`);
  if (one.expiration !== null) {
    more.push(one.expiration === 0
      ? 'never stored' : `valid until ${moment(new Date(one.expiration * 1000).toISOString())}`);
  }
  return element('li', {},
    element('b', { 'data-status': one.status }, one.status), ` ${one.rule} to ${one.app} `,
    typeName(one.push_type), one.card_event ? ` card ${one.card_event}` : '',
    one.reason ? element('p', { class: 'reason' }, one.reason) : null,
    more.length ? element('p', { class: 'note' }, more.join(', ')) : null,
    one.priority !== null ? element('p', { class: 'note code' }, `apns-id ${one.apns_id}`) : null);
}

function cards(report) {
  if (!report.live_activities.length) return [];
  const heads = [{ text: 'card' }, { text: 'of' }, { text: 'registered' }, { text: 'state' }];
  const rows = report.live_activities.map(card => [card.activity_id,
    `${card.app} ${card.owner_id} …${card.token_suffix}`, moment(card.registered_at),
    card.ended_at ? `ended ${moment(card.ended_at)}: ${card.ended_reason ?? ''}`
      : card.complaint ? `can't be shown: ${card.complaint}`
        : card.refused ? 'refused by APNs'
          : card.stale_at ? `fresh until ${moment(card.stale_at)}` : 'no update yet']);
  return [element('h3', {}, 'Cards'),
    element('div', { class: 'scroll' }, table('Cards of this ride', heads, rows))];
}
