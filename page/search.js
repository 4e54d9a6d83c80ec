// A search by person, apns-id or token: phones, cards, rides, and the newest pushes.

import { decision } from './decision.js';
import { element, moment, rideLink, table } from './dom.js';

export function searchParts(report) {
  return [
    ...part('Phones', report.phones, report.more_phones, ['phone', 'registered', 'state'], phone),
    ...part('Start tokens', report.start_tokens, report.more_start_tokens,
      ['token', 'registered', 'state'], startToken),
    ...part('Cards', report.live_activities, report.more_live_activities,
      ['card', 'ride', 'registered', 'state'], card),
    ...part('Last contact', report.contacts, false, ['app', 'at'],
      contact => [contact.app, moment(contact.contacted_at)]),
    ...part('Rides', report.rides, report.more_rides, ['ride', 'as', 'state', 'next due'], ride),
    ...pushes(report),
  ];
}

function part(name, items, hasMore, columns, row) {
  if (!items.length) return [];
  const heads = columns.map(text => ({ text }));
  return [element('h3', {}, name),
    element('div', { class: 'scroll' }, table(name, heads, items.map(row))),
    hasMore ? element('p', { class: 'note' }, `Only the first ${items.length} are shown.`) : ''];
}

const holder = one => `${one.app} ${one.owner_id} …${one.token_suffix}`;
const disabled = one =>
  one.disabled_at ? `disabled ${moment(one.disabled_at)}: ${one.disabled_reason ?? ''}` : null;

function phone(one) {
  const quarantine = one.quarantined_at && `in quarantine since ${moment(one.quarantined_at)}`;
  const state = disabled(one) ?? quarantine ?? 'enabled';
  const known = [holder(one), one.platform === 'android' ? 'Android' : one.environment, one.locale, one.time_zone,
    one.app_version && `version ${one.app_version}`, one.alerts === false && 'alerts not allowed'];
  return [known.filter(Boolean).join(', '),
    moment(one.registered_at), state];
}

function startToken(one) {
  return [`${holder(one)}, starts ${one.attributes_type}`, moment(one.registered_at),
    disabled(one) ?? 'valid'];
}

function card(one) {
  return [`${one.activity_id} of ${holder(one)}`, rideLink(one.ride_id), moment(one.registered_at),
    one.ended_at ? `ended ${moment(one.ended_at)}: ${one.ended_reason ?? ''}` : 'live'];
}

function ride(one) {
  const due = one.parked_reason !== null ? `parked: ${one.parked_reason}`
    : !one.live ? 'not on the agenda' : one.due_at ? moment(one.due_at) : 'with its next event';
  return [rideLink(one.id), one.app, one.state ?? 'none', due];
}

function pushes(report) {
  if (!report.pushes.length) return [element('p', {}, 'No push is recorded.')];
  const items = report.pushes.map(push => element('li', {},
    element('h4', {}, element('time', { datetime: push.at }, moment(push.at)), ` ${push.event}, ride `,
      rideLink(push.ride_id)),
    element('ul', {}, decision(push))));
  return [element('h3', {}, 'Pushes, newest first'), element('ol', { class: 'timeline' }, ...items),
    report.more_pushes ? element('p', { class: 'note' },
      'There are older ones: ridepulse explain prints how to read them.') : ''];
}
