// One phone of the inbox: its screen, and what a test can do with it.

import { clock, count, element, setText } from './dom.js';
import { drawPhone } from './phone.js';

const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
const states = ['awake', 'doze', 'offline', 'restricted', 'uninstalled'];
const isToken = text => /^[0-9a-f]{64,}$/.test(text);

/** A token that is too long to read, by its ends. */
export const shortened = text => text.length > 24 ? `${text.slice(0, 8)}…${text.slice(-6)}` : text;

/** @param change executes the calls of these paths */
export function phoneArticle(phone, platform, change) {
  const title = element('h3', { title: phone.id }, shortened(phone.id));
  const shown = { article: element('article', { 'aria-label': `phone ${phone.id}` }), phone, title,
    note: element('p', { class: 'note' }), figure: element('div', {}),
    control: platform === 'android' ? stateSelect(change) : offlineButton(change) };
  shown.control.bind(shown);
  shown.article.append(title, shown.note, element('p', { class: 'states' }, shown.control.node), shown.figure);
  updatePhone(shown, phone);
  return shown;
}

export function updatePhone(shown, phone) {
  shown.phone = phone;
  setText(shown.note, [
    phone.messages === 1 ? '1 push' : `${count(phone.messages)} pushes`, phone.refused ? `${count(phone.refused)} refused` : '',
    phone.addresses.length > 1 ? `${phone.addresses.length} tokens` : '',
    phone.messages > phone.drawn_at_most ? `the newest ${phone.drawn_at_most} are drawn` : '',
    phone.state ?? '', phone.screen ? `as of ${clock(phone.screen.at)}` : '',
  ].filter(Boolean).join(' · '));
  // The control stays, and with it the focus.
  shown.control.update(phone);
  shown.figure.replaceChildren(phone.screen ? drawPhone(phone.screen, { zone }) : '');
}

/** When its screen changes without a push, in seconds since 1970. */
export const nextChange = ({ phone }) => Math.min(...(phone.screen?.cards ?? [])
  .flatMap(card => [card.ended ? null : card.stale_at, card.gone_at])
  .filter(time => time && time > phone.screen.at));

function offlineButton(change) {
  const node = element('button', { type: 'button' });
  let shown = null;
  node.addEventListener('click', () => {
    const word = shown.phone.state ? 'online' : 'offline';
    change(shown.phone.addresses.filter(isToken).map(token => `/devices/${token}/${word}`));
  });
  return { node, bind: one => { shown = one; }, update: phone => {
    node.hidden = !phone.addresses.some(isToken);
    setText(node, phone.state ? 'Bring online' : 'Take offline');
    node.setAttribute('aria-label', `${node.textContent}: ${shortened(phone.id)}`);
  } };
}

function stateSelect(change) {
  const node = element('select', {}, ...states.map(state => element('option', { value: state }, state)));
  let shown = null;
  node.addEventListener('change', () =>
    change([`/phones/${encodeURIComponent(shown.phone.id)}/${node.value}`]));
  return { node, bind: one => { shown = one; }, update: phone => {
    node.value = phone.state ?? 'awake';
    node.setAttribute('aria-label', `state of ${shortened(phone.id)}`);
  } };
}
