// One decision of a ride or a search: the verdict, its reason, and the headers of the push.

import { element, moment, span, typeName } from './dom.js';

export function decision(one) {
  const more = [];
  if (one.kind === 'push' && one.status === 'accepted' && one.latency_ms !== null) more.push(`after ${span(one.latency_ms)}`);
  if (one.attempts > 1) more.push(`${one.attempts} attempts`);
  if (one.token_suffix) more.push(`${one.platform === 'android' ? 'Android phone' : 'phone'} …${one.token_suffix}`);
  if (one.priority !== null) more.push(`priority ${one.priority}`);
  if (one.expiration !== null) {
    more.push(one.expiration === 0
      ? 'never stored' : `valid until ${moment(new Date(one.expiration * 1000).toISOString())}`);
  }
  return element('li', {},
    element('b', { 'data-status': one.status }, one.status), ` ${one.rule} to ${person(one)} `,
    typeName(one.push_type ?? one.kind), one.card_event ? ` card ${one.card_event}` : '',
    one.reason ? element('p', { class: 'reason' }, one.reason) : null,
    more.length ? element('p', { class: 'note' }, more.join(', ')) : null,
    one.priority !== null ? element('p', { class: 'note code' }, `apns-id ${one.apns_id}`) : null,
    one.apns_unique_id
      ? element('p', { class: 'note code' }, `apns-unique-id ${one.apns_unique_id}`) : null,
    one.decided_by ? element('p', { class: 'note' }, decidedBy(one.decided_by)) : null);
}

const person = one => one.owner_id === null ? one.app : `${one.app} ${one.owner_id}`;

/** The rules by the first digits of their SHA-256: enough to compare, and to search a log for. */
function decidedBy({ revision, rules, version }) {
  return rules === null ? `decided by revision ${revision}, which is not recorded`
    : `decided by rules ${rules.slice(0, 12)}, ridepulse ${version}`;
}
