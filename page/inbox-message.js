// One push of the inbox: a line, and below it all that arrived.

import { clock, element, setText, table, typeName } from './dom.js';
import { shortened } from './inbox-phone.js';

const bad = ['refused', 'dropped'];
/** What the page states itself, or what only helps programs. */
const stated = ['sequence', 'outcome', 'outcome_at', 'phone', 'type', 'headers', 'payload', 'message',
  'payload_text', 'received_at', 'token', 'registration', 'channel', 'reason', 'code', 'detail', 'dropped'];

export function messageItem(message) {
  const badge = element('span', { class: 'badge' });
  const summary = element('summary', {}, element('time', {}, clock(message.received_at)),
    typeName(message.type || 'no type'), badge, element('span', { class: 'words' }, [words(message), message.detail ?? message.dropped].filter(Boolean).join(' – ')),
    element('span', { class: 'to', title: message.phone }, `#${message.sequence} → ${shortened(message.phone) || 'nobody'}`));
  const details = element('details', {}, summary);
  const shown = { item: element('li', {}, details), badge, details, message };
  // Most are never opened.
  details.addEventListener('toggle', () => { if (details.open) fill(shown); });
  updateMessage(shown, message);
  return shown;
}

export function updateMessage(shown, message) {
  shown.message = message;
  setText(shown.badge, outcome(message));
  shown.badge.dataset.kind = message.outcome === 'delivered' ? 'good' : bad.includes(message.outcome) ? 'bad' : 'wait';
  if (shown.details.open) fill(shown);
}

function outcome(message) {
  const word = message.outcome.replaceAll('_', ' ');
  const reason = message.reason ?? message.code;
  return message.outcome === 'refused' ? [message.status || 'no answer', reason].filter(Boolean).join(' ') : word;
}

/** What a person reads, or what a card shows. */
function words(message) {
  const aps = message.payload?.aps;
  const sent = message.message ?? {};
  const drawn = { ...sent.notification, ...sent.android?.notification };
  const data = sent.data ?? {};
  const alert = typeof aps?.alert === 'string' ? { body: aps.alert } : aps?.alert ?? {};
  const texts = [alert.title ?? drawn.title ?? data.rp_title, alert.subtitle, alert.body ?? drawn.body ?? data.rp_body]
    .map(text => typeof text === 'object' ? text?.['loc-key'] : text ?? null)
    .concat(alert['title-loc-key'], alert['loc-key']).filter(Boolean);
  const event = aps?.event ?? data.rp_event;
  const state = aps?.['content-state'] ? JSON.stringify(aps['content-state']) : data.rp_state;
  return [event, ...texts, event ? state : null].filter(Boolean).join(' · ').slice(0, 300);
}

function fill({ details, message }) {
  const why = [['reason', message.reason ?? message.code], ['why', message.detail],
    ['the phone drops it', message.dropped]].filter(([, text]) => text);
  const facts = [['to', message.token ?? message.registration ?? message.channel],
    ...Object.entries(message).filter(([key]) => !stated.includes(key))]
    .filter(([, value]) => value !== undefined && value !== null)
    .map(([key, value]) => [key, typeof value === 'object' ? JSON.stringify(value) : String(value)]);
  const heads = [{ text: 'name' }, { text: 'value' }];
  const headers = Object.entries(message.headers ?? {})
    .map(([name, value]) => [name, Array.isArray(value) ? value.join(', ') : String(value)]);
  const body = message.payload ?? message.message ?? message.payload_text;
  const parts = [
    ...why.map(([name, text]) => element('p', { class: 'why' }, element('b', {}, `${name}: `), text)),
    headers.length ? table('Headers', heads, headers) : '',
    table('About it', heads, facts),
    body === undefined ? '' : element('pre', { tabindex: 0, 'aria-label': 'payload' },
      typeof body === 'string' ? body : JSON.stringify(body, null, 2)),
  ];
  details.replaceChildren(details.firstElementChild, ...parts);
}
