// What the search shows: a ride's history, or the JSON of `ridepulse explain --format json` for a person,
// an apns-id or a token.

import { decision } from './decision.js';
import { byId, element, moment, table } from './dom.js';
import { drawPhone } from './phone.js';
import { drawScreens } from './screens.js';
import { searchParts } from './search.js';

/** What can be searched by: the name in the address, and how it is loaded and shown. */
const kinds = {
  ride: { title: 'Ride', hint: 'its ID', address: 'ride?id=', parts,
    absent: 'Nothing is recorded about a ride with this ID.' },
  owner: { title: 'Person', hint: 'owner ID', address: 'v1/explain?owner_id=', parts: searchParts },
  apns_id: { title: 'apns-id', hint: 'UUID', address: 'v1/explain?apns_id=', parts: searchParts },
  token: { title: 'Token', hint: 'its last 6 characters', address: 'v1/explain?token=', parts: searchParts },
};
let shown = '';

/** The fragment of the address selects what is shown, so that going back works. */
export function followAddress() {
  addEventListener('hashchange', open);
  byId('search-kind').addEventListener('change', showHint);
  byId('search').addEventListener('submit', event => {
    event.preventDefault();
    const id = byId('ride-id').value.trim();
    if (!id) return;
    const address = `#${byId('search-kind').value}=${encodeURIComponent(id)}`;
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
  // A browser may have kept the choice of an earlier visit.
  showHint();
  if (location.hash) open();
}

function showHint() {
  byId('ride-id').placeholder = kinds[byId('search-kind').value].hint;
}

function close() {
  shown = '';
  byId('ride').hidden = true;
  if (location.hash) history.pushState(null, '', location.pathname);
  byId('ride-id').focus();
}

/** The kind and the text of the address; an empty text without an address, null for another one. */
function subject() {
  if (!location.hash) return { kind: 'ride', text: '' };
  const [, kind, text] = /^#([a-z_]+)=(.*)$/s.exec(location.hash) ?? [];
  if (!Object.hasOwn(kinds, kind ?? '')) return null;
  try {
    return { kind, text: decodeURIComponent(text) };
  } catch {
    return { kind, text };
  }
}

async function open() {
  const wanted = subject();
  // Another fragment, such as `#main`, changes nothing.
  if (!wanted) return;
  const { kind, text } = wanted;
  shown = text && location.hash;
  byId('ride').hidden = !text;
  if (!text) return;
  const started = shown;
  byId('search-kind').value = kind;
  showHint();
  byId('ride-id').value = text;
  byId('ride-title').textContent = `${kinds[kind].title} ${text}`;
  byId('ride-history').replaceChildren(element('p', { class: 'note' }, 'loading …'));
  byId('ride-title').focus();
  const nodes = await load(kinds[kind], text);
  // Something else may have been selected in the meantime.
  if (shown === started) byId('ride-history').replaceChildren(...nodes);
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

async function load(kind, text) {
  try {
    const answer = await ask(kind.address + encodeURIComponent(text));
    if (answer.ok) return kind.parts(await answer.json());
    // Refusals of /v1 are JSON with a sentence for people, those of other paths are text.
    const reason = answer.headers.get('Content-Type')?.startsWith('application/json')
      ? (await answer.json()).error.message : await answer.text();
    if (answer.status === 404) return [element('p', {}, kind.absent ?? sentence(reason))];
    if (answer.status === 422) return [element('p', {}, sentence(reason))];
    throw new Error(reason);
  } catch (error) {
    return [element('p', {}, `This can't be loaded now: ${error.message}`)];
  }
}

const sentence = text => `${text.slice(0, 1).toUpperCase()}${text.slice(1)}.`;

function parts(report) {
  return [facts(report), ...phones(report), ...timeline(report), ...cards(report)];
}

/** What the ride's phones show, now and at each time before. */
function phones({ screens }) {
  if (!screens) return [];
  return [element('h3', {}, 'On the phones'), drawScreens(screens, drawPhone)];
}

function facts(report) {
  const { ride, agenda } = report;
  const rows = [];
  if (!ride) rows.push(['row', 'gone from the table rides']);
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
    element('h4', {}, element('time', { datetime: entry.at }, moment(entry.at)), ` ${entry.event}`),
    entry.handled ? null : element('p', { class: 'note' }, 'not handled yet'),
    element('ul', {}, ...entry.decisions.map(decision))));
  return [element('h3', { class: 'unseen' }, 'History'), element('ol', { class: 'timeline' }, ...items)];
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
