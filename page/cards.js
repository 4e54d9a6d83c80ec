// The cards of the last day: the JSON types that their fields were really sent, and start tokens of types
// that no rule has.

import { byId, count, element, moment, table } from './dom.js';

const refreshEvery = 60000;

export async function followCards() {
  if (!document.hidden) await load();
  setTimeout(followCards, refreshEvery);
}

async function load() {
  try {
    const answer = await fetch('cards');
    if (!answer.ok) throw new Error(await answer.text());
    show(await answer.json());
  } catch (error) {
    byId('cards-note').textContent = `can't be read now: ${error.message}`;
  }
}

function show(usage) {
  byId('cards-note').textContent = usage.cards.length
    ? 'The JSON types of the fields as APNs accepted them. iOS drops an update that the app can\u2019t decode.'
    : 'APNs has accepted no push to a card.';
  byId('cards').replaceChildren(...usage.cards.map(card), ...startTokens(usage.start_tokens));
}

function card(one) {
  const heads = [{ text: 'field' }, { text: 'sent as' }, { text: 'pushes', number: true },
    { text: 'last' }, { text: 'problem' }];
  const rows = one.fields.flatMap(field => field.sent.map((sent, index) => [
    index ? '' : field.field, sent.type, count(sent.pushes), moment(sent.last_at),
    sent.fault ? element('b', { class: 'fault' }, sent.fault) : '']));
  return element('div', {},
    element('h3', {}, one.attributes_type),
    one.has_rule ? null : element('p', { class: 'fault' }, 'No rule has this attributes-type any more.'),
    table(`Fields of ${one.attributes_type}`, heads, rows));
}

function startTokens(list) {
  if (!list.length) return [];
  const heads = [{ text: 'attributes type' }, { text: 'app' }, { text: 'registered' },
    { text: 'its rules have' }];
  const rows = list.map(one => [one.attributes_type, one.app, one.tokens,
    one.nearest ?? 'no live-activity rule']);
  return [element('h3', {}, 'Start tokens that start nothing'),
    element('p', { class: 'fault' },
      'Apps registered attributes types that no rule of the app has.'),
    table('Start tokens of unknown types', heads, rows)];
}
